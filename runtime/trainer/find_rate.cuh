// find-lr: the range test of a learning rate (L. Smith, arXiv 1506.01186, 3.3).  The rate grows
// from step to step; the loss falls, then rises.
#pragma once
#include "train.cuh"

// RatePoint: a training step.
struct RatePoint {
    double rate, loss, smooth;
};

// RateTest: a range of rates, and the training steps so far.
struct RateTest {
    double from, to;
    RatePoint *points;
    long long count, room;
    double average;             // the moving average, which begins at 0
};

// Parses --from and --to.
static inline bool parse_range(const Trainer *t, RateTest *test)
{
    const int options[] = {OPTION_FROM, OPTION_TO};
    double *const values[] = {&test->from, &test->to};
    for (int i = 0; i < 2; i++) {
        const char *text = t->option[options[i]];
        char *end = NULL;
        if (!text) continue;
        *values[i] = strtod(text, &end);
        if (*end || end == text || !(*values[i] > 0 && *values[i] <= FLT_MAX) ||
            !type_holds(SAFE_F32, *values[i]))
            return complain("%s %s: wanted a rate above 0", trainer_options[options[i]].name, text);
    }
    return test->from < test->to ||
           complain("--from and --to: wanted a lower rate and a higher one, found %g and %g",
                    test->from, test->to);
}

// Adds a training step.  The smoothed loss is a moving average, 0.98 of the one before, without
// bias.  Returns false at the end: the loss is not finite, or above 4 times the least.
static inline bool add_rate(RateTest *test, double rate, double loss)
{
    const double keeps = 0.98;
    if (!isfinite(loss)) return false;
    test->average = keeps * test->average + (1 - keeps) * loss;
    const double smooth = test->average / (1 - pow(keeps, (double)test->count + 1));
    double least = smooth;
    for (long long i = 0; i < test->count; i++) least = fmin(least, test->points[i].smooth);
    test->points[test->count++] = {rate, loss, smooth};
    return smooth <= 4 * least;
}

// Returns the point where the smoothed loss falls fastest over the logarithm of the rate, or -1 if
// it falls nowhere.  The slope is that of the chord over a tenth of all steps.  The first tenth is
// left out, since few losses are in its averages.
static inline long long steepest_rate(const RateTest *test)
{
    const long long reach = test->count / 20 > 1 ? test->count / 20 : 1;
    long long best = -1;
    double least = 0;
    for (long long i = test->count / 10 + reach; i + reach < test->count; i++) {
        const RatePoint *a = &test->points[i - reach], *b = &test->points[i + reach];
        const double slope = (b->smooth - a->smooth) / log(b->rate / a->rate);
        if (slope < least) least = slope, best = i;
    }
    return best;
}

// Takes training steps at growing rates, in the order of an ordinary run.
static inline bool test_rates(TrainingRun *run, RateTest *test)
{
    Trainer *t = run->trainer;
    const Net *net = t->net;
    NetFigures f;
    bool failed = false, goes_on = true;
    for (uint64_t epoch = 0; goes_on && !failed; epoch++) {
        order_epoch(run, epoch);
        begin_pass(&t->reader, &run->set, run->order, 0, run->member_count, NULL);
        Staging *s = NULL;
        while (goes_on && (s = take_batch(&t->reader, &failed))) {
            const double share = (double)test->count / (double)(test->room - 1);
            if (!call_ok(net, net->set_rate(test->from * pow(test->to / test->from, share))) ||
                !call_ok(net, net->train(s->data, s->bytes)) || !call_ok(net, net->figures(&f, 0)))
                return false;
            goes_on = add_rate(test, f.rate, f.loss) && test->count < test->room;
            if (!give_batch(&t->reader, s, *net->stream)) return false;
        }
    }
    return !failed;
}

// ---- its files

// Returns DIR/NAME, in a folder that is created.
static inline char *path_in(const char *folder, const char *name)
{
    char *path = (char *)take_memory(strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

static inline bool write_rates(const RateTest *test, const char *path)
{
    BesideFile file;
    if (!open_beside(path, &file)) return false;
    fprintf(file.out, "step,rate,loss,smoothed_loss\n");
    for (long long i = 0; i < test->count; i++)
        fprintf(file.out, "%lld,%.9g,%.9g,%.9g\n", i + 1, test->points[i].rate,
                test->points[i].loss, test->points[i].smooth);
    return close_beside(&file, true);
}

// Draws the smoothed loss over the logarithm of the rate, and a line at point `best`, if any.
static inline bool draw_rates(const RateTest *test, long long best, const char *path)
{
    const double left = 70, top = 20, width = 640, height = 320, bottom = top + height;
    const double first = floor(log10(test->points[0].rate)), floor_of = test->points[0].smooth;
    double last = ceil(log10(test->points[test->count - 1].rate)), low = floor_of, high = floor_of;
    if (last <= first) last = first + 1;
    for (long long i = 0; i < test->count; i++) {
        low = fmin(low, test->points[i].smooth);
        high = fmax(high, test->points[i].smooth);
    }
    if (high <= low) high = low + 1;
    const double across = width / (last - first), up = height / (high - low);
    const auto x = [&](double rate) { return left + across * (log10(rate) - first); };
    const auto y = [&](double loss) { return bottom - up * (loss - low); };
    BesideFile file;
    if (!open_beside(path, &file)) return false;
    FILE *out = file.out;
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"740\" height=\"400\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"740\" height=\"400\" "
            "fill=\"white\"/>\n");
    for (int power = (int)first; power <= (int)last; power++)
        fprintf(out, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%.1f\" "
                "text-anchor=\"middle\">1e%d</text>\n", x(pow(10, power)), top, bottom,
                x(pow(10, power)), bottom + 18, power);
    for (int i = 0; i <= 4; i++) {
        const double loss = low + (high - low) * i / 4;
        fprintf(out, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%.1f\" "
                "text-anchor=\"end\">%.4g</text>\n", left, y(loss), left + width, left - 6,
                y(loss) + 4, loss);
    }
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">learning rate</text>\n"
            "<text x=\"%.1f\" y=\"14\">smoothed loss</text>\n<polyline fill=\"none\" "
            "stroke=\"#1565c0\" stroke-width=\"2\" points=\"", left + width / 2, bottom + 40, left);
    for (long long i = 0; i < test->count; i++)
        fprintf(out, "%s%.1f,%.1f", i ? " " : "", x(test->points[i].rate),
                y(test->points[i].smooth));
    fprintf(out, "\"/>\n");
    if (best >= 0)
        fprintf(out, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"#c62828\" stroke-dasharray=\"4\"/>"
                "<text x=\"%.1f\" y=\"%.1f\" fill=\"#c62828\">%.3g</text>\n",
                x(test->points[best].rate), top, bottom, x(test->points[best].rate) + 4, top + 12,
                test->points[best].rate);
    fprintf(out, "</svg>\n");
    return close_beside(&file, true);
}

// ---- the command

// find-lr: suggests a learning rate.  The weights that it trains are saved nowhere.
static inline bool command_find_rate(Trainer *t)
{
    const Net *net = t->net;
    const char *folder = t->option[OPTION_OUTPUT];
    TrainingRun run = {};
    RateTest test = {1e-7, 10, NULL, 0, t->option[OPTION_STEPS] ? t->steps : 100, 0};
    DataSet *const sets[] = {&run.set};
    run.trainer = t;
    if (test.room < 10) return complain("--steps %lld: wanted 10 and more", test.room);
    if (!parse_range(t, &test) || !describe_set(t, &run.set) ||
        !paths_differ(t, 1 << SET_TRAIN, false) || (folder && !make_folder(folder)))
        return false;
    const char *csv = folder ? path_in(folder, "rates.csv") : NULL;
    const char *svg = folder ? path_in(folder, "rates.svg") : NULL;
    if (folder && !(can_write(csv) && can_write(svg))) return false;
    if (!read_set(t, SET_TRAIN, false, &run.set) || !sources_are_read(t, sets, 1)) return false;
    run.member_count = run.set.count;
    run.order = (long long *)take_memory((size_t)run.set.count * sizeof *run.order);
    test.points = (RatePoint *)take_memory((size_t)test.room * sizeof *test.points);
    if (!start_reader(&t->reader, &run.set, net->batch, (int)t->workers) || !open_net(t) ||
        !files_are_whole() || !test_rates(&run, &test))
        return false;
    if (!test.count) return complain("the loss of the first training step is not finite");
    const long long best = steepest_rate(&test);
    if (folder && !(write_rates(&test, csv) && draw_rates(&test, best, svg))) return false;
    printf("%lld training steps at rates from %.3g to %.3g, losses from %.4f to %.4f\n", test.count,
           test.points[0].rate, test.points[test.count - 1].rate, test.points[0].smooth,
           test.points[test.count - 1].smooth);
    if (best < 0) return printf("the loss falls at none of these rates\n") > 0;
    return printf("the loss falls fastest at %.3g: --lr %.3g\n", test.points[best].rate,
                  test.points[best].rate) > 0;
}
