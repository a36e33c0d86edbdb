// The objects of an image in Pascal VOC's format (Everingham et al. 2010).  An
// XML file has annotation/size/{width,height}.  Each object has its name,
// difficult and bndbox/{xmin,ymin,xmax,ymax}.  Pixels are counted from 1, and
// xmax and ymax are of the last pixel.  The reader takes elements, text,
// comments and the five entities of XML; it has no use for attributes.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "pack.h"

enum { LONGEST_PATH = 256, LONGEST_TEXT = 1024 };
enum { HAS_NAME = 1, HAS_LEFT = 2, HAS_TOP = 4, HAS_RIGHT = 8, HAS_BOTTOM = 16,
       HAS_OBJECT = 31 };

typedef struct Voc {
    const char *path;
    const char *text, *at, *end;
    char        place[LONGEST_PATH];    // of the element: /annotation/object
    char        value[LONGEST_TEXT];    // its text so far
    size_t      length;
    bool        all, named;     // named: by --classes
    Samples    *samples;
    Boxes      *boxes;
    Box         box;            // the object so far
    int         seen;
    bool        difficult;
} Voc;

static _Noreturn void voc_fault(const Voc *v, const char *wanted)
{
    char why[MESSAGE_SIZE];
    long line = 1;
    for (const char *c = v->text; c < v->at; c++) line += *c == '\n';
    snprintf(why, sizeof why, "line %ld: wanted %s", line, wanted);
    die(EXIT_BROKEN, v->path, why);
}

// ---- the meaning of elements ------------------------------------------------

static double number_of(const Voc *v, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value))
        voc_fault(v, "a number");
    return value;
}

static int side_of(const Voc *v, const char *text)
{
    double side = number_of(v, text);
    if (!(side >= 1 && side <= INT32_MAX) || side != (int)side)
        voc_fault(v, "a height or width from 1 to 2^31 - 1");
    return (int)side;
}

// Returns a class's number.  A new one is added to the list.
static int32_t kind_of(const Voc *v, const char *name)
{
    Names *classes = &v->samples->classes;
    int32_t kind = find_name(classes, name);
    if (kind > 0) return kind;
    if (kind == 0 || v->named) {
        char why[MESSAGE_SIZE];
        snprintf(why, sizeof why, "has an object \"%.200s\", which is %s", name,
                 kind == 0 ? "the name of class 0" : "no class of --classes");
        die(EXIT_BROKEN, v->path, why);
    }
    add_name(classes, join(name, "", ""));
    return (int32_t)classes->count - 1;
}

static void end_object(Voc *v)
{
    if (v->seen != HAS_OBJECT || v->box.right < v->box.left ||
        v->box.bottom < v->box.top)
        voc_fault(v, "an object with a name and bndbox/{xmin,ymin,xmax,ymax}");
    if (v->difficult && !v->all) v->samples->left_out++;
    else add_box(v->boxes, &v->box);
    v->box = (Box){ 0 };
    v->seen = 0;
    v->difficult = false;
}

// Takes an element at its end.
static void take_element(Voc *v, const char *text)
{
    const char *at = v->place;
    static const char head[] = "/annotation/";
    if (strncmp(at, head, sizeof head - 1) != 0) return;
    at += sizeof head - 1;
    if (!strcmp(at, "size/width")) v->boxes->width = side_of(v, text);
    if (!strcmp(at, "size/height")) v->boxes->height = side_of(v, text);
    if (!strcmp(at, "object/name"))
        v->box.kind = kind_of(v, text), v->seen |= HAS_NAME;
    if (!strcmp(at, "object/bndbox/xmin"))
        v->box.left = number_of(v, text) - 1, v->seen |= HAS_LEFT;
    if (!strcmp(at, "object/bndbox/ymin"))
        v->box.top = number_of(v, text) - 1, v->seen |= HAS_TOP;
    if (!strcmp(at, "object/bndbox/xmax"))
        v->box.right = number_of(v, text), v->seen |= HAS_RIGHT;
    if (!strcmp(at, "object/bndbox/ymax"))
        v->box.bottom = number_of(v, text), v->seen |= HAS_BOTTOM;
    if (!strcmp(at, "object/difficult")) v->difficult = number_of(v, text) != 0;
    if (!strcmp(at, "object")) end_object(v);
}

// ---- XML --------------------------------------------------------------------

static bool begins(const Voc *v, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(v->end - v->at) >= length && !memcmp(v->at, word, length);
}

// Moves after the next occurrence of a word.
static void pass(Voc *v, const char *word)
{
    while (v->at < v->end && !begins(v, word)) v->at++;
    if (v->at == v->end) voc_fault(v, word);
    v->at += strlen(word);
}

static void add_text(Voc *v, const char *bytes, size_t count)
{
    if (v->length + count >= sizeof v->value) voc_fault(v, "a shorter text");
    memcpy(v->value + v->length, bytes, count);
    v->length += count;
    v->value[v->length] = '\0';
}

// Takes &amp; and the like, also &#233; and &#xE9;.
static void take_entity(Voc *v)
{
    static const char *const names[] = { "&lt;", "&gt;", "&amp;", "&quot;",
                                         "&apos;" };
    static const char values[] = "<>&\"'";
    char *end, bytes[4];
    for (int i = 0; i < 5; i++)
        if (begins(v, names[i])) {
            add_text(v, values + i, 1);
            v->at += strlen(names[i]);
            return;
        }
    if (!begins(v, "&#")) voc_fault(v, "one of the five entities of XML");
    bool hex = begins(v, "&#x");
    unsigned long code = strtoul(v->at + (hex ? 3 : 2), &end, hex ? 16 : 10);
    if (*end != ';' || code == 0 || code > 0x10FFFF)
        voc_fault(v, "the number of a character");
    add_text(v, bytes, utf8((uint32_t)code, bytes));
    v->at = end + 1;
}

// Returns the text of the element without blanks at its ends.
static const char *trimmed(Voc *v)
{
    static const char blanks[] = " \t\r\n";
    char *text = v->value + strspn(v->value, blanks);
    size_t length = strlen(text);
    while (length > 0 && strchr(blanks, text[length - 1]) != NULL)
        text[--length] = '\0';
    return text;
}

static void end_element(Voc *v, const char *name, size_t length)
{
    char *slash = strrchr(v->place, '/');
    if (slash == NULL || strlen(slash + 1) != length ||
        memcmp(slash + 1, name, length) != 0) {
        voc_fault(v, "the end of the element that began last");
        return;
    }
    take_element(v, trimmed(v));
    *slash = '\0';
    v->value[v->length = 0] = '\0';
}

// Takes <name ...>, <name .../> or </name>.
static void take_tag(Voc *v)
{
    bool ends = begins(v, "</");
    const char *name = v->at + (ends ? 2 : 1);
    size_t length = strcspn(name, " \t\r\n/><"), used = strlen(v->place);
    if (length == 0 || used + length + 2 > sizeof v->place)
        voc_fault(v, "the name of an element");
    v->at = name + length;
    if (!ends) {
        snprintf(v->place + used, sizeof v->place - used, "/%.*s", (int)length,
                 name);
        v->value[v->length = 0] = '\0';
    }
    // A value of an attribute may contain >.
    for (char quote = '\0'; v->at < v->end && (*v->at != '>' || quote); v->at++)
        if (quote == *v->at) quote = '\0';
        else if (!quote && (*v->at == '"' || *v->at == '\'')) quote = *v->at;
    if (v->at == v->end) voc_fault(v, "> of an element");
    ends = ends || v->at[-1] == '/';
    v->at++;
    if (ends) end_element(v, name, length);
}

static void read_voc(Voc *v)
{
    bool some = false;
    if (begins(v, "\xEF\xBB\xBF")) v->at += 3;
    while (v->at < v->end) {
        if (begins(v, "<?")) pass(v, "?>");
        else if (begins(v, "<!--")) pass(v, "-->");
        else if (begins(v, "<!")) voc_fault(v, "elements and comments only");
        else if (*v->at == '<') take_tag(v), some = true;
        else if (*v->at == '&') take_entity(v);
        else if (*v->place == '\0' && !strchr(" \t\r\n", *v->at))
            voc_fault(v, "<annotation>");
        else if (*v->at == '\0') voc_fault(v, "a text without zero bytes");
        else if (*v->place != '\0') add_text(v, v->at++, 1);
        else v->at++;
    }
    if (*v->place != '\0' || !some) voc_fault(v, "the end of <annotation>");
    if (v->boxes->height == 0 || v->boxes->width == 0)
        voc_fault(v, "annotation/size/{width,height}");
}

// ---- all images -------------------------------------------------------------

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Numbers new classes in the order of their names, from 1 on.
static void sort_kinds(Samples *s)
{
    Names old = s->classes;
    int32_t *number = grow(NULL, old.count * sizeof *number);
    s->classes.at = grow(NULL, old.count * sizeof *old.at);
    s->classes.capacity = old.count;
    memcpy(s->classes.at, old.at, old.count * sizeof *old.at);
    qsort(s->classes.at + 1, old.count - 1, sizeof *old.at, by_name);
    for (size_t i = 0; i < old.count; i++)
        number[i] = find_name(&s->classes, old.at[i]);
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < s->boxes[i].count; k++)
            s->boxes[i].at[k].kind = number[s->boxes[i].at[k].kind];
    free(old.at);
    free(number);
}

void list_voc(const char *folder, bool all, Samples *s)
{
    bool named = s->classes.count > 0;
    if (!named) add_name(&s->classes, join("none", "", ""));
    s->boxes = grow(NULL, s->count * sizeof *s->boxes);
    for (size_t i = 0; i < s->count; i++) {
        char *path = path_beside(folder, s->items[i].name, ".xml");
        char message[MESSAGE_SIZE];
        Item item = whole_file(path);
        Bytes file;
        if (!read_item(&item, &file, message)) die(EXIT_FILES, path, message);
        // A number at the end must not be read beyond it.
        file.at = grow(file.at, file.count + 1);
        file.at[file.count] = '\0';
        s->boxes[i] = (Boxes){ .at = NULL };
        const char *text = (const char *)file.at;
        Voc voc = { .path = path, .text = text, .at = text,
                    .end = text + file.count, .all = all, .named = named,
                    .samples = s, .boxes = &s->boxes[i] };
        read_voc(&voc);
        free(file.at);
        free(path);
    }
    if (!named) sort_kinds(s);
}
