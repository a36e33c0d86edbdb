// Images and objects of a COCO file of instances (Lin et al. 2014, arXiv
// 1405.0312).  The file has the arrays images, categories and annotations, in
// any order.  An annotation's bbox is [left, top, width, height] in pixels from
// the top left corner.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "json.h"
#include "pack.h"

typedef struct CocoImage {
    int64_t id;
    int     height, width;
    char   *name;
    size_t  number;             // its place in the order of names
} CocoImage;

typedef struct Category {
    int64_t id;
    char   *name;
    int32_t kind;
} Category;

typedef struct CocoObject {
    int64_t image, category;
    Box     box;
    size_t  number;             // in the file, from 1 on
} CocoObject;

typedef struct Coco {
    CocoImage  *images;
    Category   *categories;
    CocoObject *objects;
    size_t      image_count, image_room, category_count, category_room;
    size_t      object_count, object_room, left_out, annotations;
    bool        all;            // with crowds
} Coco;

// The keys of an entry that were read.
enum { HAS_ID = 1, HAS_NAME = 2, HAS_HEIGHT = 4, HAS_WIDTH = 8, HAS_IMAGE = 1,
       HAS_CATEGORY = 2, HAS_BOX = 4 };

static int read_side(Json *json)
{
    int64_t side = json_integer(json);
    if (side < 1 || side > INT32_MAX)
        json_fault(json, "a height or width from 1 to 2^31 - 1");
    return (int)side;
}

static void read_image(Coco *coco, Json *json)
{
    CocoImage image = { 0 };
    char key[JSON_TEXT], text[JSON_TEXT];
    int seen = 0;
    for (bool first = true; json_member(json, &first, key);) {
        if (!strcmp(key, "id")) {
            image.id = json_integer(json), seen |= HAS_ID;
        } else if (!strcmp(key, "height")) {
            image.height = read_side(json), seen |= HAS_HEIGHT;
        } else if (!strcmp(key, "width")) {
            image.width = read_side(json), seen |= HAS_WIDTH;
        } else if (!strcmp(key, "file_name") && !(seen & HAS_NAME)) {
            json_string(json, text);
            image.name = join(text, "", ""), seen |= HAS_NAME;
        } else {
            json_skip(json);
        }
    }
    if (seen != (HAS_ID | HAS_NAME | HAS_HEIGHT | HAS_WIDTH))
        json_fault(json, "an image with id, file_name, height and width");
    coco->images = make_room_for_one(coco->images, coco->image_count,
                                     &coco->image_room, sizeof image);
    coco->images[coco->image_count++] = image;
}

static void read_category(Coco *coco, Json *json)
{
    Category category = { 0 };
    char key[JSON_TEXT], text[JSON_TEXT];
    int seen = 0;
    for (bool first = true; json_member(json, &first, key);) {
        if (!strcmp(key, "id")) {
            category.id = json_integer(json), seen |= HAS_ID;
        } else if (!strcmp(key, "name") && !(seen & HAS_NAME)) {
            json_string(json, text);
            category.name = join(text, "", ""), seen |= HAS_NAME;
        } else {
            json_skip(json);
        }
    }
    if (seen != (HAS_ID | HAS_NAME) || strchr(category.name, '\n') != NULL)
        json_fault(json, "a category with an id, and a name of one line");
    coco->categories = make_room_for_one(
        coco->categories, coco->category_count, &coco->category_room,
        sizeof category);
    coco->categories[coco->category_count++] = category;
}

static Box read_box(Json *json)
{
    double side[4];
    int count = 0;
    for (bool first = true; json_element(json, &first); count++) {
        double value = json_number(json);
        if (count < 4) side[count] = value;
    }
    if (count != 4 || !(side[2] >= 0) || !(side[3] >= 0))
        json_fault(json, "[left, top, width, height]");
    return (Box){ side[0], side[1], side[0] + side[2], side[1] + side[3], 0 };
}

// A crowd is a region of many objects, which COCO's own evaluation ignores.
static bool read_crowd(Json *json)
{
    int c = json_peek(json);
    if (c != 't' && c != 'f') return json_number(json) != 0;
    json_skip(json);
    return c == 't';
}

static void read_object(Coco *coco, Json *json)
{
    CocoObject object = { .number = ++coco->annotations };
    char key[JSON_TEXT];
    int seen = 0;
    bool crowd = false;
    for (bool first = true; json_member(json, &first, key);) {
        if (!strcmp(key, "image_id"))
            object.image = json_integer(json), seen |= HAS_IMAGE;
        else if (!strcmp(key, "category_id"))
            object.category = json_integer(json), seen |= HAS_CATEGORY;
        else if (!strcmp(key, "bbox"))
            object.box = read_box(json), seen |= HAS_BOX;
        else if (!strcmp(key, "iscrowd"))
            crowd = read_crowd(json);
        else
            json_skip(json);
    }
    if (seen != (HAS_IMAGE | HAS_CATEGORY | HAS_BOX))
        json_fault(json, "an annotation with image_id, category_id and bbox");
    if (crowd && !coco->all) {
        coco->left_out++;
        return;
    }
    coco->objects = make_room_for_one(coco->objects, coco->object_count,
                                      &coco->object_room, sizeof object);
    coco->objects[coco->object_count++] = object;
}

static void read_coco(Coco *coco, Json *json)
{
    static const struct {
        const char *key;
        void      (*read)(Coco *, Json *);
    } arrays[] = { { "images", read_image }, { "categories", read_category },
                   { "annotations", read_object } };
    enum { ARRAYS = sizeof arrays / sizeof *arrays };
    char key[JSON_TEXT];
    int seen = 0;

    for (bool first = true; json_member(json, &first, key);) {
        int i = 0;
        while (i < ARRAYS && strcmp(key, arrays[i].key) != 0) i++;
        if (i == ARRAYS) {
            json_skip(json);
            continue;
        }
        for (bool begins = true; json_element(json, &begins);)
            arrays[i].read(coco, json);
        seen |= 1 << i;
    }
    json_end(json);
    if (seen != (1 << ARRAYS) - 1)
        json_fault(json, "an object with images, categories and annotations");
}

// ---- from COCO's numbers to those of the samples ----------------------------

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_image_id(const void *a, const void *b)
{
    return compare(((const CocoImage *)a)->id, ((const CocoImage *)b)->id);
}

static int by_image_name(const void *a, const void *b)
{
    return strcmp(((const CocoImage *)a)->name, ((const CocoImage *)b)->name);
}

static int by_category(const void *a, const void *b)
{
    return compare(((const Category *)a)->id, ((const Category *)b)->id);
}

// Numbers the categories in the order of their ids, from 1 on; or as --classes
// does.
static void number_categories(Coco *coco, const char *path, Samples *s)
{
    bool named = s->classes.count > 0;
    qsort(coco->categories, coco->category_count, sizeof *coco->categories,
          by_category);
    if (!named) add_name(&s->classes, join("none", "", ""));
    for (size_t i = 0; i < coco->category_count; i++) {
        Category *c = &coco->categories[i];
        if (i > 0 && c[-1].id == c->id)
            die(EXIT_BROKEN, path, "has two categories of one id");
        c->kind = find_name(&s->classes, c->name);
        if (c->kind == 0 || (c->kind > 0 && !named))
            die(EXIT_BROKEN, path, "has two categories of one name, or one "
                "with the name of class 0");
        if (c->kind > 0) continue;
        if (named) die(EXIT_BROKEN, c->name, "is no class of --classes");
        c->kind = (int32_t)s->classes.count;
        add_name(&s->classes, join(c->name, "", ""));
    }
}

// Numbers the images in the order of their names.
static void number_images(Coco *coco, const char *from, const char *path,
                          Samples *s)
{
    CocoImage *images = coco->images;
    size_t count = coco->image_count;
    if (count == 0) die(EXIT_BROKEN, path, "has no images");
    qsort(images, count, sizeof *images, by_image_name);
    s->boxes = grow(NULL, count * sizeof *s->boxes);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && strcmp(images[i - 1].name, images[i].name) == 0)
            die(EXIT_BROKEN, images[i].name, "is listed twice");
        images[i].number =
            add_item(s, whole_file(join(from, "/", images[i].name)));
        s->boxes[i] = (Boxes){ .height = images[i].height,
                               .width = images[i].width };
    }
    qsort(images, count, sizeof *images, by_image_id);
    for (size_t i = 1; i < count; i++)
        if (images[i - 1].id == images[i].id)
            die(EXIT_BROKEN, images[i].name, "has the id of another image");
}

void add_box(Boxes *boxes, const Box *box)
{
    boxes->at = make_room_for_one(boxes->at, boxes->count, &boxes->capacity,
                                  sizeof *boxes->at);
    boxes->at[boxes->count++] = *box;
}

static void give_objects(const Coco *coco, const char *path, Samples *s)
{
    for (size_t i = 0; i < coco->object_count; i++) {
        CocoObject *o = &coco->objects[i];
        CocoImage image = { .id = o->image };
        Category category = { .id = o->category };
        const CocoImage *in = bsearch(&image, coco->images, coco->image_count,
                                      sizeof image, by_image_id);
        const Category *of =
            coco->category_count == 0 ? NULL :
            bsearch(&category, coco->categories, coco->category_count,
                    sizeof category, by_category);
        if (in == NULL || of == NULL) {
            char why[MESSAGE_SIZE];
            snprintf(why, sizeof why, "annotation %zu is of %s %lld, which is "
                     "not listed", o->number, in == NULL ? "image" : "category",
                     (long long)(in == NULL ? o->image : o->category));
            die(EXIT_BROKEN, path, why);
        } else {
            o->box.kind = of->kind;
            add_box(&s->boxes[in->number], &o->box);
        }
    }
}

void list_coco(const char *from, const char *path, bool all, Samples *s)
{
    Coco coco = { .all = all };
    Json json = { fopen(path, "r"), path, 1 };
    if (json.in == NULL) die(EXIT_FILES, path, strerror(errno));
    read_coco(&coco, &json);
    fclose(json.in);
    number_categories(&coco, path, s);
    number_images(&coco, from, path, s);
    give_objects(&coco, path, s);
    s->left_out = coco.left_out;
    for (size_t i = 0; i < coco.image_count; i++) free(coco.images[i].name);
    for (size_t i = 0; i < coco.category_count; i++)
        free(coco.categories[i].name);
    free(coco.images);
    free(coco.categories);
    free(coco.objects);
}
