// find-lr: rates, smoothed losses, the end and the suggestion, computed again from its CSV.
#pragma once
#include "check.h"

static void check_rates(const char *line, double from, double to, int steps, bool whole)
{
    const double keeps = 0.98;
    double average = 0, least = INFINITY, smooth[128] = {}, loss[128], rate[128] = {};
    char wanted[64];
    CHECK(run(line) == 0);
    const int count = lines_of("rates/rates.csv") - 1;
    if (count < 10 || count > 128) return CHECK(false);
    CHECK(whole ? count == steps : count > 10 && count < steps);
    for (int i = 0; i < count; i++) {
        rate[i] = field_of("rates/rates.csv", i + 1, 1);
        loss[i] = field_of("rates/rates.csv", i + 1, 2);
        average = keeps * average + (1 - keeps) * loss[i];
        smooth[i] = average / (1 - pow(keeps, i + 1));
        const double is = from * pow(to / from, i / (steps - 1.0));
        CHECK(fabs(rate[i] - is) <= 1e-6 * is);
        CHECK(fabs(field_of("rates/rates.csv", i + 1, 3) - smooth[i]) <= 1e-6 * smooth[i]);
        // All but the last are within 4 times the least so far.
        least = fmin(least, smooth[i]);
        CHECK(smooth[i] <= 4 * least || i == count - 1);
    }
    CHECK(whole || smooth[count - 1] > 4 * least);
    int best = -1;
    double steepest = 0;
    const int reach = count / 20 > 1 ? count / 20 : 1;
    for (int i = count / 10 + reach; i + reach < count; i++) {
        const double slope =
            (smooth[i + reach] - smooth[i - reach]) / log(rate[i + reach] / rate[i - reach]);
        if (slope < steepest) steepest = slope, best = i;
    }
    snprintf(wanted, sizeof wanted, "fastest at %.3g: --lr %.3g\n", rate[best < 0 ? 0 : best],
             rate[best < 0 ? 0 : best]);
    CHECK(best > 0 && told(wanted));
    snprintf(wanted, sizeof wanted, ">%.3g</text>", rate[best < 0 ? 0 : best]);
    const char *svg = text_of("rates/rates.svg");
    CHECK(strstr(svg, "<svg xmlns=") == svg && strstr(svg, wanted) && strstr(svg, "</svg>\n"));
    int points = 0;
    for (const char *at = strstr(svg, "points=\""); at && *at != '/'; at++) points += *at == ',';
    CHECK(points == count);
}

static void test_rates_command()
{
    static const struct {
        const char *line, *words;
        int status;
    } rows[] = {
        {"find-lr --data . --from 0", "--from 0: wanted a rate above 0", 1},
        {"find-lr --data . --to x", "--to x: wanted a rate above 0", 1},
        {"find-lr --data . --from 2 --to 1", "--from and --to: wanted a lower rate and a higher", 1},
        {"find-lr --data . --steps 9", "--steps 9: wanted 10 and more", 1},
        {"find-lr --data . --epochs 2", "find-lr has no option --epochs: it is an option of train", 2},
        {"find-lr --data . --lr 1", "find-lr has no option --lr: it is an option of train step", 2},
        {"find-lr --data . --output a", "a: wanted a folder", 1}};
    for (const auto &row : rows) CHECK(run(row.line) == row.status && complained(row.words));
    check_rates("find-lr --data . --output rates --from 1e-3 --to 1e4 --steps 60", 1e-3, 1e4, 60,
                false);
    check_rates("find-lr --data . --output rates --from 1e-2 --to 3 --steps 40 --seed 3", 1e-2, 3,
                40, true);
    CHECK(run("find-lr --data .") == 0 && told("100 training steps at rates from 1e-07 to 10"));
    CHECK(run("find-lr --data . --load a --from 50 --to 500 --steps 10") == 0);
    CHECK(told("the loss falls at none of these rates"));
    CHECK(run("find-lr --data .", false) == 2 && nothing_is_left());
    CHECK(complained("a program of --mode infer does not find-lr"));
}
