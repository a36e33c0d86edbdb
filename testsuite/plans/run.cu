// Follows the emitted file of a plan, in place of the trainer's commands:
//
//     PROGRAM                                what the net takes, as `info --tensors`
//     PROGRAM MODE WEIGHTS BATCH RESULT      runs the launches of train, eval or infer
//
// RESULT takes all that they leave: figures, outputs, and every byte of the state. train is three
// training steps; eval is one evaluation, and inference by the same launches. A NaN would hide a
// difference, so it is an error: every reader of it gives a NaN too; a training step that was
// skipped, since its loss or a gradient was not finite.

static bool write_result(FILE *file, const void *data, size_t bytes)
{
    return fwrite(data, 1, bytes, file) == bytes || complain("the result can't be written");
}

// The results of the last batch.
static bool write_figures(const Net *net, unsigned long long updates, FILE *file)
{
    NetFigures f = {};
    if (!call_ok(net, net->figures(&f, 0))) return false;
    if (!isfinite(f.loss) || f.updates != updates)
        return complain("loss %g after %llu updates of %llu", f.loss, f.updates, updates);
    return write_result(file, &f.loss, sizeof f.loss) &&
           write_result(file, f.metric, (size_t)net->metric_count * sizeof *f.metric);
}

static bool write_tensors(const Net *net, NetList list, void *const *data, FILE *file)
{
    for (int i = 0; i < list.count; i++) {
        const NetTensor *t = &list.tensors[i];
        void *to = data ? data[i] : take_memory(t->bytes);
        if (!data && !call_ok(net, net->read(t->offset, to, t->bytes))) return false;
        const float *real = (const float *)to;
        for (size_t k = 0; !strcmp(t->dtype, "f32") && k < t->bytes / sizeof *real; k++)
            if (isnan(real[k])) return complain("%s is NaN at element %zu", t->name, k);
        if (!write_result(file, to, t->bytes)) return false;
    }
    return true;
}

static bool run_train(const Net *net, const Staging *batch, FILE *file)
{
    for (unsigned long long step = 1; step <= 3; step++)
        if (!call_ok(net, net->train(batch->data, batch->bytes)) ||
            !write_figures(net, step, file))
            return false;
    return write_tensors(net, tensors_of(net, ROLE_KEPT), NULL, file);
}

static bool run_infer(const Net *net, const Staging *batch, FILE *file)
{
    NetList list = tensors_of(net, ROLE_OUTPUT);
    void **data = (void **)take_memory(((size_t)list.count + 1) * sizeof *data);
    size_t *bytes = (size_t *)take_memory(((size_t)list.count + 1) * sizeof *bytes);
    for (int i = 0; i < list.count; i++)
        data[i] = take_memory(bytes[i] = list.tensors[i].bytes);
    return call_ok(net, net->infer(batch->data, batch->bytes, data, bytes)) &&
           cudaStreamSynchronize(*net->stream) == cudaSuccess &&
           write_tensors(net, list, data, file);
}

static bool run_eval(const Net *net, const Staging *batch, FILE *file)
{
    return call_ok(net, net->eval(batch->data, batch->bytes)) && write_figures(net, 0, file) &&
           run_infer(net, batch, file);
}

static bool run_mode(Trainer *t, const char *mode, FILE *file)
{
    const Net *net = t->net;
    Staging batch = {};
    if (!read_batch(t, t->option[OPTION_BATCH], &batch) || !open_net(t)) return false;
    auto run = !strcmp(mode, "train") ? run_train : !strcmp(mode, "eval") ? run_eval : run_infer;
    void *state = take_memory(net->state_bytes);
    return run(net, &batch, file) && call_ok(net, net->export_state(state, net->state_bytes)) &&
           write_result(file, state, net->state_bytes);
}

static int run_plan(const Net *net, int argc, char **argv)
{
    Trainer t = {};
    t.net = net;
    t.seed = 7;
    program_name = argv[0];
    if (argc != 5) {
        t.option[OPTION_TENSORS] = "";
        return !command_info(&t);
    }
    t.option[OPTION_LOAD] = argv[2];
    t.option[OPTION_BATCH] = argv[3];
    FILE *file = fopen(argv[4], "wb");
    if (!file) return !complain("%s can't be written", argv[4]);
    bool good = run_mode(&t, argv[1], file);
    return fclose(file) != 0 || !good;
}
