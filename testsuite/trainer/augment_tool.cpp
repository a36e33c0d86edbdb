// Changes one image as the trainer does:
//
//     augment_tool resize HEIGHT WIDTH CHANNELS DOWN RIGHT H W TO_HEIGHT TO_WIDTH FLIP PLANES
//     augment_tool change HEIGHT WIDTH CHANNELS KIND AMOUNT RANDOM
//
// It reads HEIGHT x WIDTH x CHANNELS bytes, channel after channel if PLANES is 1, and writes numbers
// of 32 bits, in the bytes' units.  KIND is a ChangeKind.
#include <cuda_runtime.h>
#include <stdlib.h>

#include "../../runtime/trainer/main.cuh"

static long long numbers[32];

// Reads an image and describes it as the only sample of a file.
static DataArray read_image(bool planes)
{
    const size_t bytes = (size_t)(numbers[0] * numbers[1] * numbers[2]);
    unsigned char *data = (unsigned char *)take_memory(bytes);
    if (fread(data, 1, bytes, stdin) != bytes) exit(complain("the image is too short") + 1);
    return {data, SAFE_U8, 4, {1, numbers[0], numbers[1], numbers[2], 1, 1, 1, 1}, bytes, planes};
}

int main(int argc, char **argv)
{
    for (int i = 2; i < argc; i++) numbers[i - 2] = atoll(argv[i]);
    if (argc == 13 && !strcmp(argv[1], "resize")) {
        const DataArray a = read_image(numbers[10]);
        const MapSize to = {numbers[7], numbers[8]};
        const NetTensor input = {"x", "f32", 4, {1, to.height, to.width, numbers[2]}, 0, 0, 0, 1,
                                 NO_LABEL};
        DataPart part = {a, 0};
        DataColumn c = describe_column(&input);
        c.parts = &part, c.part_count = 1;
        const PixelScratch scratch = take_scratch(&c, 1);
        const MapView view = {numbers[3], numbers[4], numbers[5], numbers[6], numbers[9] != 0};
        resize_crop(&a, 0, &view, to, &scratch, scratch.pixels);
        fwrite(scratch.pixels, sizeof(float), (size_t)(to.height * to.width * numbers[2]), stdout);
    } else if (argc == 8 && !strcmp(argv[1], "change")) {
        const DataArray a = read_image(false);
        const size_t count = a.stride;
        ChangeList list = {1, {{(ChangeKind)numbers[3], atof(argv[6]), numbers[5] != 0}}};
        Image image = {map_size(&a), numbers[2], (float *)take_memory(4 * count),
                       (float *)take_memory(4 * count)};
        for (size_t i = 0; i < count; i++) image.pixels[i] = a.data[i];
        change_all(&image, &list);
        fwrite(image.pixels, sizeof(float), count, stdout);
    } else return complain("wanted an operation and its numbers") + 2;
    release_memory();
    return 0;
}
