// The options for the size of memory and for the means to fit in it.
#include <ctype.h>
#include <string.h>
#include "options.h"

// Returns the bytes of a unit: B, KiB, MB and so on, in any case.  KB is 1000
// bytes; KiB and K are 1024.  0 for other words.
static int64_t unit_bytes(const char *unit)
{
    static const char prefixes[] = "kmgt";
    int64_t binary = 1, decimal = 1;
    if (*unit == '\0' || strcmp(unit, "B") == 0) return 1;
    const char *at = strchr(prefixes, tolower((unsigned char)*unit));
    if (at == NULL) return 0;
    for (const char *p = prefixes; p <= at; p++) {
        binary *= 1024;
        decimal *= 1000;
    }
    unit++;
    if (*unit == '\0' || strcmp(unit, "iB") == 0) return binary;
    return strcmp(unit, "B") == 0 ? decimal : 0;
}

// Reads a number with up to nine decimals exactly: 5.5GiB.  False for other
// texts, and outside 1 to 2^52 bytes.
static bool read_size(const char *text, int64_t *bytes)
{
    const int64_t most = (int64_t)1 << 52;
    int64_t whole = 0, part = 0, scale = 1;
    const char *at = text;
    for (; isdigit((unsigned char)*at); at++) {
        whole = 10 * whole + (*at - '0');
        if (whole > most) return false;
    }
    if (at == text) return false;
    if (*at == '.') {
        const char *point = at++;
        for (; isdigit((unsigned char)*at) && at - point <= 9; at++) {
            part = 10 * part + (*at - '0');
            scale *= 10;
        }
        if (at == point + 1) return false;
    }
    while (*at == ' ') at++;
    int64_t unit = unit_bytes(at);
    if (unit == 0 || whole > most / unit) return false;
    // part < 10^9 and unit <= 2^40: two steps, since 10^9 * 2^40 > 2^63.
    int64_t high = unit / scale * part, low = unit % scale * part / scale;
    *bytes = whole * unit + high + low;
    return *bytes > 0 && *bytes <= most;
}

// Returns a size with its unit in the usual spelling: 5GB for 5gb, 5GiB for
// 5gib and 5 gib.
static const char *spelt_size(Arena *arena, const char *value)
{
    char *text = arena_copy(arena, value, strlen(value));
    for (char *c = text; *c != '\0'; c++)
        *c = (char)(tolower((unsigned char)*c) == 'i'
                    ? 'i' : toupper((unsigned char)*c));
    return text;
}

static int set_size(Options *o, const char *flag, const char *value,
                    int64_t *bytes)
{
    if (read_size(value, bytes)) return -1;
    const char *spelt = spelt_size(o->arena, value);
    if (read_size(spelt, bytes)) {
        command_message(o->diag, MESSAGE_ERROR, "%s '%s'; did you mean '%s'?",
                        flag, value, spelt);
        return EXIT_USAGE;
    }
    command_message(o->diag, MESSAGE_ERROR, "%s takes a size such as 800MiB, "
                    "5.5GiB or a number of bytes, not '%s'; --help lists the "
                    "options", flag, value);
    return EXIT_USAGE;
}

int set_budget(Options *o, const char *value)
{
    return set_size(o, "--budget", value, &o->passes.budget);
}

int set_fit(Options *o, const char *value)
{
    return set_size(o, "--fit", value, &o->fit);
}

int set_microbatch(Options *o, const char *value)
{
    o->auto_slices = strcmp(value, "auto") == 0;
    o->frontend.microbatch = 0;
    return o->auto_slices
        ? -1 : set_count(o, "--microbatch", value, &o->frontend.microbatch);
}

const char *microbatch_word(int i)
{
    return i == 0 ? "auto" : NULL;
}

int set_offload(Options *o, const char *value)
{
    (void)value;
    o->passes.offload = true;
    return -1;
}

const char *prefer_word(int i)
{
    return i < PREFER_COUNT ? prefer_names[i] : NULL;
}

int set_prefer(Options *o, const char *value)
{
    int kind = choose(o, "--prefer", value, prefer_word);
    if (kind >= 0) o->passes.prefer = (Prefer)kind;
    return kind < 0 ? EXIT_USAGE : -1;
}

const char *inputs_word(int i)
{
    static const char *const words[] = { "arena", "caller" };
    return i < 2 ? words[i] : NULL;
}

int set_inputs(Options *o, const char *value)
{
    int kind = choose(o, "--inputs", value, inputs_word);
    o->frontend.caller_inputs = kind == 1;
    return kind < 0 ? EXIT_USAGE : -1;
}

const char *checkpoint_word(int i)
{
    return i < CHECKPOINT_COUNT ? checkpoint_names[i] : NULL;
}

int set_checkpoint(Options *o, const char *value)
{
    Checkpoint *how = &o->passes.checkpoint;
    if (strncmp(value, "every ", 6) == 0) {
        how->kind = CHECKPOINT_EVERY;
        return set_count(o, "--checkpoint every", value + 6, &how->every);
    }
    int kind = choose(o, "--checkpoint", value, checkpoint_word);
    if (kind == CHECKPOINT_EVERY)
        return usage(o, "a number is missing after", value, NULL);
    if (kind >= 0) how->kind = (CheckpointKind)kind;
    return kind < 0 ? EXIT_USAGE : -1;
}

// Reads a number of at most nine digits and advances *text; 0 if there is none.
static int64_t take_number(const char **text)
{
    int64_t n = 0;
    for (int i = 0; i < 9 && isdigit((unsigned char)**text); i++)
        n = 10 * n + (*(*text)++ - '0');
    return n;
}

int set_split(Options *o, const char *value)
{
    const char *at = value;
    int64_t samples = take_number(&at), height = 1, width = 1;
    if (*at == ':') {
        at++;
        height = take_number(&at);
        width = *at == 'x' ? (at++, take_number(&at)) : 0;
    }
    if (samples > 0 && height > 0 && width > 0 && *at == '\0') {
        o->passes.split_samples = samples;
        o->passes.split_pixels = height * width;
        return -1;
    }
    command_message(o->diag, MESSAGE_ERROR, "--split takes samples, and the "
                    "least height and width of maps, as 8 or 8:56x56, not "
                    "'%s'; --help lists the options", value);
    return EXIT_USAGE;
}

const char *precision_word(int i)
{
    static const char *const words[] = { "f32", "tf32", "f16", "bf16", "f64",
                                         "int8" };
    return i < (int)(sizeof words / sizeof *words) ? words[i] : NULL;
}

int set_precision(Options *o, const char *value)
{
    static const DType maps[] = { F32, F32, F16, BF16, F64, I8 };
    int precision = choose(o, "--precision", value, precision_word);

    if (precision < 0) return EXIT_USAGE;
    o->frontend.map = maps[precision];
    o->frontend.real = maps[precision] == F64 ? F64 : F32;
    o->frontend.tf32 = precision == 1;
    return -1;
}
