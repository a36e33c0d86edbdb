// Inference on a data set: output files, the class of each sample, and the
// confusion matrix.
#pragma once
#include "paths.cuh"

// OutputBuffers: host memory for a batch of every output.
struct OutputBuffers {
    void **data;
    size_t *bytes;
};

static inline OutputBuffers take_outputs(const Net *net)
{
    size_t count = (size_t)net->output_count;
    OutputBuffers o = {(void **)take_memory(count * sizeof *o.data),
                       (size_t *)take_memory(count * sizeof *o.bytes)};
    for (size_t i = 0; i < count; i++) o.data[i] = take_memory(net->outputs[i].bytes);
    return o;
}

// Infers a batch and waits for the outputs.
static inline bool infer_batch(const Net *net, const Staging *s, const OutputBuffers *o)
{
    for (int i = 0; i < net->output_count; i++)
        o->bytes[i] = net->outputs[i].bytes / (size_t)net->batch * (size_t)s->samples;
    if (!call_ok(net, net->infer(s->data, s->bytes, o->data, o->bytes))) return false;
    cudaError_t error = cudaStreamSynchronize(*net->stream);
    return error == cudaSuccess || complain("inference: %s", cudaGetErrorString(error));
}

// Returns the index of a row's greatest element, the first of equal ones.
static inline int greatest_class(int type, const void *data, size_t row, int classes)
{
    size_t best = row * (size_t)classes, end = best + (size_t)classes;
    for (size_t k = best; k < end; k++)
        if (read_element(type, data, k) > read_element(type, data, best)) best = k;
    return (int)(best - row * (size_t)classes);
}

// Returns an output with a score for each class of a label (NULL: of any label), or -1.
static inline int find_scores(const Net *net, const NetTensor *label)
{
    for (int i = 0; i < net->output_count; i++) {
        const NetTensor *o = &net->outputs[i];
        if (!label && o->rank == 2) return i;
        bool scored = label && o->rank == label->rank + 1;
        if (scored && o->shape[o->rank - 1] == label->classes) return i;
    }
    return -1;
}

// ---- the confusion matrix

// ConfusionMatrix: counts[label * classes + predicted].
struct ConfusionMatrix {
    int classes, output, column;    // output: the scores; column: the labels
    int ignored;                    // the label that does not count, or NO_LABEL
    long long *counts;
    OutputBuffers outputs;
};

// Allocates a matrix for the first label that has an output of scores.
static inline bool begin_confusion(const Net *net, const DataSet *set, ConfusionMatrix *m)
{
    for (int i = 0; i < set->column_count; i++) {
        const NetTensor *label = set->columns[i].input;
        int output = label->classes ? find_scores(net, label) : -1;
        if (output < 0) continue;
        size_t cells = (size_t)label->classes * (size_t)label->classes;
        *m = {label->classes, output, i, label->ignored,
              (long long *)take_memory(cells * sizeof *m->counts), take_outputs(net)};
        return true;
    }
    return complain("%s has no output of one number a class of a label", net->name);
}

// Infers a batch and counts its predictions, except for ignored labels.
static inline bool count_confusion(const Net *net, const Staging *s, ConfusionMatrix *m)
{
    if (!infer_batch(net, s, &m->outputs)) return false;
    const int *labels = (const int *)s->data[m->column];
    int type = safe_type_of(net->outputs[m->output].dtype);
    size_t rows = s->bytes[m->column] / sizeof *labels;
    for (size_t i = 0; i < rows; i++)
        if (labels[i] >= 0 && labels[i] < m->classes && labels[i] != m->ignored)
            m->counts[labels[i] * (long long)m->classes +
                      greatest_class(type, m->outputs.data[m->output], i, m->classes)]++;
    return true;
}

// Sums a class's row (how often it is the label) and its column (how often it is predicted).
static inline void confusion_sums(const ConfusionMatrix *m, int c, long long *row,
                                  long long *column)
{
    *row = *column = 0;
    for (long long i = 0; i < m->classes; i++) {
        *row += m->counts[c * (long long)m->classes + i];
        *column += m->counts[i * m->classes + c];
    }
}

// Returns the number of correct predictions, and of all in *all.
static inline long long confusion_right(const ConfusionMatrix *m, long long *all)
{
    long long right = *all = 0, cells = (long long)m->classes * m->classes;
    for (long long i = 0; i < cells; i++) *all += m->counts[i];
    for (long long c = 0; c < m->classes; c++) right += m->counts[c * m->classes + c];
    return right;
}

// Prints the matrix if it has at most WIDEST classes, then for each class its precision, recall,
// F1, labels and name.
static inline void print_confusion(const ConfusionMatrix *m, const ClassNames *names)
{
    enum { WIDEST = 32 };
    if (m->classes <= WIDEST) {
        printf("label \\ predicted\n%6s", "");
        for (int k = 0; k < m->classes; k++) printf(" %6d", k);
        for (int c = 0; c < m->classes; c++) {
            printf("\n%6d", c);
            for (int k = 0; k < m->classes; k++) printf(" %6lld", m->counts[c * m->classes + k]);
        }
        printf("\n");
    }
    printf("class  precision     recall         f1     labels\n");
    double sums[3] = {};
    for (int c = 0; c < m->classes; c++) {
        long long row, column, hits = m->counts[c * (long long)m->classes + c];
        confusion_sums(m, c, &row, &column);
        double figures[3] = {column ? (double)hits / (double)column : 0,
                             row ? (double)hits / (double)row : 0,
                             row + column ? 2.0 * (double)hits / (double)(row + column) : 0};
        for (int i = 0; i < 3; i++) sums[i] += figures[i] / m->classes;
        printf("%5d %10.4f %10.4f %10.4f %10lld%s%s\n", c, figures[0], figures[1], figures[2], row,
               c < names->count ? "  " : "", c < names->count ? names->names[c] : "");
    }
    printf(" mean %10.4f %10.4f %10.4f\n", sums[0], sums[1], sums[2]);
}

// ---- predict

// PredictionFiles: the output files of a run of predict.
struct PredictionFiles {
    BesideFile *outputs, classes;
    bool writes_outputs, writes_classes;
    int scores;
    ClassNames names;
};

// Creates a folder and its missing parents.
static inline bool make_folder(const char *path)
{
    struct stat status;
    size_t size = strlen(path) + 1;
    char *part = (char *)memcpy(take_memory(size), path, size);
    for (size_t i = 1; i < size; i++) {
        if (path[i] != '/' && path[i]) continue;
        part[i] = 0;
        if (mkdir(part, 0777) && errno != EEXIST)
            return complain("%s: this folder can't be made: %s", part, strerror(errno));
        part[i] = path[i];
    }
    return (!stat(path, &status) && S_ISDIR(status.st_mode)) ||
           complain("%s: wanted a folder", path);
}

// Opens the files of --output, whose folder is created, and of --classes.
static inline bool open_predictions(const Trainer *t, const DataSet *set, PredictionFiles *p)
{
    const Net *net = t->net;
    const char *folder = t->option[OPTION_OUTPUT], *classes = t->option[OPTION_CLASSES];
    p->scores = find_scores(net, NULL);
    if (classes && p->scores < 0)
        return complain("--classes: %s has no output of one number a class", net->name);
    if (classes && !name_known_classes(t, set, (int)net->outputs[p->scores].shape[1], &p->names))
        return false;
    if (folder && !make_folder(folder)) return false;
    p->outputs = (BesideFile *)take_memory((size_t)net->output_count * sizeof *p->outputs);
    for (int i = 0; folder && i < net->output_count; i++) {
        char *path = prediction_path(folder, &net->outputs[i]);
        sweep_beside(path);
        if (!open_beside(path, &p->outputs[i])) return false;
        write_npy_header(p->outputs[i].out, &net->outputs[i], set->count);
    }
    p->writes_outputs = folder != NULL;
    if (classes) sweep_beside(classes);
    if (classes && !open_beside(classes, &p->classes)) return false;
    p->writes_classes = classes != NULL;
    if (classes) fprintf(p->classes.out, "sample,class%s\n", p->names.path ? ",name" : "");
    return true;
}

// Writes a batch of outputs.
static inline void write_predictions(const Net *net, const Staging *s, const OutputBuffers *o,
                                     PredictionFiles *p)
{
    for (int i = 0; p->writes_outputs && i < net->output_count; i++)
        fwrite(o->data[i], 1, o->bytes[i], p->outputs[i].out);
    if (!p->writes_classes) return;
    const NetTensor *scores = &net->outputs[p->scores];
    int type = safe_type_of(scores->dtype), classes = (int)scores->shape[1];
    for (int i = 0; i < s->samples; i++) {
        int c = greatest_class(type, o->data[p->scores], (size_t)i, classes);
        fprintf(p->classes.out, "%lld,%d%s", s->first + i, c, p->names.path ? "," : "");
        if (c < p->names.count) write_csv_name(p->classes.out, p->names.names[c]);
        fputc('\n', p->classes.out);
    }
}

// Closes the files.  They get their final names if `good`; otherwise they are removed.
static inline bool close_predictions(const Net *net, PredictionFiles *p, bool good)
{
    for (int i = 0; p->outputs && i < net->output_count; i++) {
        BesideFile *file = &p->outputs[i];
        if (file->out && good) good = close_beside(file, true);
        else if (file->out) drop_beside(file);
    }
    if (p->classes.out && good) return close_beside(&p->classes, true);
    if (p->classes.out) drop_beside(&p->classes);
    return good;
}
