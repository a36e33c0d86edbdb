// Corruptions of a plan's launches, one function each: the launches of one
// step, and their order.
#include <string.h>
#include "draw.h"

// The step of a launch, were it in none with others.
static const PlanStep *alone(const Spoil *s, const char *name)
{
    for (int i = 0; i < s->apart->step_count; i++)
        if (strcmp(s->apart->steps[i].name, name) == 0)
            return &s->apart->steps[i];
    bug("no launch is called %s", name);
}

static void add_all(int32_t *to, int *count, const int32_t *ids, int length)
{
    for (int i = 0; i < length; i++)
        if (!has_id(to, *count, ids[i])) to[(*count)++] = ids[i];
}

// The step of these launches, which touches the same buffers.
static PlanStep step_of(Spoil *s, const char **names, int count)
{
    PlanStep step = *alone(s, names[0]);
    int reads = 1, writes = 1, pairs = 1;
    for (int k = 0; k < count; k++) {
        const PlanStep *own = alone(s, names[k]);
        reads += own->read_count, writes += own->write_count;
        pairs += own->in_place_count;
    }
    step.reads = NEW_ARRAY(s->arena, reads, int32_t);
    step.writes = NEW_ARRAY(s->arena, writes, int32_t);
    step.in_place = arena_alloc(s->arena, (size_t)pairs, sizeof *step.in_place);
    step.read_count = step.write_count = step.in_place_count = 0;
    for (int k = 0; k < count; k++) {
        const PlanStep *own = alone(s, names[k]);
        add_all(step.reads, &step.read_count, own->reads, own->read_count);
        add_all(step.writes, &step.write_count, own->writes, own->write_count);
        for (int i = 0; i < own->in_place_count; i++)
            memcpy(step.in_place[step.in_place_count++], own->in_place[i],
                   sizeof *own->in_place);
    }
    step.more = &names[1];
    step.more_count = count - 1;
    return step;
}

// The names of a step's launches, with room for one more.
static const char **names_of(Spoil *s, const PlanStep *step)
{
    const char **names = NEW_ARRAY(s->arena, step->more_count + 2, const char *);
    names[0] = step->name;
    for (int k = 0; k < step->more_count; k++) names[k + 1] = step->more[k];
    return names;
}

static void put_step(Spoil *s, int at, PlanStep step)
{
    for (int i = s->plan->step_count++; i > at; i--)
        s->plan->steps[i] = s->plan->steps[i - 1];
    s->plan->steps[at] = step;
}

// Takes the k-th launch out of a step, which goes where it is the only one.
static const char *take_launch(Spoil *s, PlanStep *step, int k)
{
    const char **names = names_of(s, step), *name = names[k];
    if (step->more_count == 0) {
        drop_step(s, (int)(step - s->plan->steps));
        return name;
    }
    for (; k < step->more_count; k++) names[k] = names[k + 1];
    *step = step_of(s, names, step->more_count);
    return name;
}

static bool updates(const PlanStep *step)
{
    return step->phase == UPDATE && step->write_count > 0;
}

static bool is_joint(const PlanStep *step)
{
    return step->more_count > 0;
}

// An update is launched before a reader of its result: it should have
// waited.
void update_early(Spoil *s)
{
    PlanStep *step = draw_such_step(s, updates);
    if (!updates(step)) return;
    int k = (int)draw(s, (uint32_t)step->more_count + 1);
    const char *name = take_launch(s, step, k);
    PlanStep own = step_of(s, &name, 1);
    int32_t changed = own.writes[draw(s, (uint32_t)own.write_count)];
    put_step(s, (int)(draw_reader(s, changed) - s->plan->steps), own);
}

// One of several in a step is forgotten, or is in another of its kind instead,
// or there as well; or it is in its own twice.
void launches(Spoil *s)
{
    PlanStep *from = draw_such_step(s, is_joint), *to = from;
    if (!is_joint(from)) return;
    int k = (int)draw(s, (uint32_t)from->more_count + 1);
    const char *name = k == 0 ? from->name : from->more[k - 1];
    uint32_t how = draw(s, 4);
    for (int i = 0; i < 50 && how > 1 && to == from; i++) {
        PlanStep *other = draw_step(s);
        if (strcmp(other->op, from->op) == 0) to = other;
    }
    if (how > 0) {
        const char **names = names_of(s, to);
        names[to->more_count + 1] = name;
        *to = step_of(s, names, to->more_count + 2);
    }
    if (how == 0 || (how == 2 && to != from)) take_launch(s, from, k);
}

// An update is launched with a launch that touches its result: it should have
// waited.
void update_beside(Spoil *s)
{
    PlanStep *from = draw_such_step(s, updates);
    if (!updates(from)) return;
    int k = (int)draw(s, (uint32_t)from->more_count + 1);
    const PlanStep *own = alone(s, k == 0 ? from->name : from->more[k - 1]);
    int32_t changed = own->writes[draw(s, (uint32_t)own->write_count)];
    PlanStep *to = draw_reader(s, changed);
    if (to == from) return;
    const char **names = names_of(s, to);
    names[to->more_count + 1] = own->name;
    *to = step_of(s, names, to->more_count + 2);
    take_launch(s, from, k);
}
