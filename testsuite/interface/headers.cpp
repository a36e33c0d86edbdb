// The numbers in a state's header: import and attach refuse one that no run leaves there, name
// it and change nothing; set refuses a rate that is not a finite float of 0 and more.
#include "nets.h"

#include <cfloat>
#include <cmath>
#include <cstddef>
#include <initializer_list>

#include "../../runtime/support/net/header.cuh"

struct Field {
    const char *name;                   // which the error's text begins with
    size_t offset;
    enum Kind { REAL, LONG, SHORT } kind;
};

#define FIELD(name, kind) {#name, offsetof(StateHeader, name), Field::kind}

static void put(State *s, const Field &field, double value)
{
    const uint64_t wide = value < 0 ? UINT64_MAX : (uint64_t)value;
    const uint32_t narrow = (uint32_t)wide;
    if (field.kind == Field::REAL) memcpy(s->bytes + field.offset, &value, sizeof value);
    if (field.kind == Field::LONG) memcpy(s->bytes + field.offset, &wide, sizeof wide);
    if (field.kind == Field::SHORT) memcpy(s->bytes + field.offset, &narrow, sizeof narrow);
}

// The state with a wrong value, in an arena of its own and for a context that has another.
static void expect_refused(One *one, const State &sound, const Field &field, double value)
{
    State wrong = sound, before = state_of(one), after;
    one_context c;
    put(&wrong, field, value);
    EXPECT(one_import(&one->c, wrong.bytes, sizeof wrong.bytes) == ONE_BAD_STATE);
    const one_error *error = one_last_error(&one->c);
    EXPECT(!strcmp(error->call, "import") && strstr(error->text, field.name) == error->text);
    after = state_of(one);
    EXPECT(one->c.ready && same_state(&before, &after));

    void *arena = new_arena(ONE_ARENA_BYTES);
    EXPECT_OK(cudaMemcpy(arena, wrong.bytes, sizeof wrong.bytes, cudaMemcpyHostToDevice));
    EXPECT(one_attach(&c, arena, ONE_ARENA_BYTES, NULL, one->cublas) == ONE_BAD_STATE);
    EXPECT(!strcmp(c.error.call, "attach") && strstr(c.error.text, field.name) == c.error.text);
    EXPECT(!c.ready);
    EXPECT_OK(cudaMemcpy(after.bytes, arena, sizeof after.bytes, cudaMemcpyDeviceToHost));
    EXPECT(same_state(&wrong, &after));
    EXPECT_OK(cudaFree(arena));
}

static void headers_are_checked()
{
    static const Field reals[] = {FIELD(rate, REAL), FIELD(base_rate, REAL),
                                  FIELD(gradient_scale, REAL), FIELD(loss_scale, REAL)};
    static const Field sums = {"sums", offsetof(StateHeader, figures), Field::REAL};
    static const Field longs[] = {FIELD(step, LONG), FIELD(updates, LONG), FIELD(samples, LONG)};
    static const Field shorts[] = {FIELD(skip, SHORT), FIELD(good, SHORT)};
    One *one = new_one(3), *other = new_one(4);
    Batch b = batch_of(0);
    for (int i = 0; i < 3; i++) EXPECT_OK(train_some(other, &b, ONE_BATCH));
    const State sound = state_of(other);
    for (const Field &field : reals)
        for (double value : {(double)NAN, (double)INFINITY, -1.0, -(double)INFINITY})
            expect_refused(one, sound, field, value);
    for (double value : {(double)NAN, (double)INFINITY, -(double)INFINITY})
        for (int i = 0; i < 2; i++) {
            Field figure = sums;
            figure.offset += (size_t)i * sizeof(double);
            expect_refused(one, sound, figure, value);
        }
    expect_refused(one, sound, reals[0], 1e39);
    expect_refused(one, sound, reals[1], 1e39);
    for (double scale : {0x1p-25, 0x1p25, DBL_MIN}) expect_refused(one, sound, reals[3], scale);
    for (const Field &field : longs) expect_refused(one, sound, field, -1);
    expect_refused(one, sound, longs[1], 4);    // of 3 steps
    for (const Field &field : shorts) expect_refused(one, sound, field, 4);

    // Values that a run can leave there are accepted.
    for (double scale : {0.0, 0x1p-24, 0x1p24}) {
        State fine = sound;
        put(&fine, reals[3], scale);
        EXPECT_OK(one_import(&one->c, fine.bytes, sizeof fine.bytes));
    }
    // A step that was skipped leaves any scale of gradients, and the next one does not read it.
    State skipped = sound;
    put(&skipped, shorts[0], 1);
    put(&skipped, reals[2], NAN);
    EXPECT_OK(one_import(&one->c, skipped.bytes, sizeof skipped.bytes));
    EXPECT_OK(train_some(one, &b, ONE_BATCH));
    EXPECT_OK(train_some(other, &b, ONE_BATCH));
    State a = state_of(one), want = state_of(other);
    EXPECT(same_weights(&a, &want));
    free_one(one);
    free_one(other);
}

static void rates_are_checked()
{
    One *one = new_one(5);
    State before = state_of(one);
    for (double rate : {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e39, -1e-3}) {
        EXPECT(one_set(&one->c, ONE_RATE, rate) == ONE_BAD_ARGUMENT);
        EXPECT(!strcmp(one_last_error(&one->c)->call, "set"));
        EXPECT(strstr(one_last_error(&one->c)->text, "the rate is"));
        State after = state_of(one);
        EXPECT(one->c.ready && same_state(&before, &after));
    }
    for (double rate : {0.0, 0.5, (double)FLT_MAX}) {
        EXPECT_OK(one_set(&one->c, ONE_RATE, rate));
        EXPECT(metrics_of(one, 0).learning_rate == rate);
        State s = state_of(one);
        EXPECT_OK(one_import(&one->c, s.bytes, sizeof s.bytes));
    }
    free_one(one);
}

int main()
{
    headers_are_checked();
    rates_are_checked();
    return 0;
}
