// Corruptions of the ends of a plan's batches, and of its copies to host
// memory, one function each.
#include "draw.h"

static int before_updates(const Plan *plan)
{
    int count = 0;
    for (int i = 0; i < plan->step_count; i++)
        count += plan->steps[i].phase != UPDATE;
    return count;
}

// At another step, or where they would if there were any, or nowhere.
void batch_steps(Spoil *s)
{
    Plan *plan = s->plan;
    switch (draw(s, 4)) {
    case 0: plan->batch_steps = 0; break;
    case 1: plan->batch_steps = before_updates(plan); break;
    case 2: plan->batch_steps = plan->step_count + (int)draw(s, 2); break;
    default: plan->batch_steps += (int)nudge(s, 3);
    }
}

static bool of_update(const PlanStep *step)
{
    return step->phase == UPDATE;
}

static bool of_batch(const PlanStep *step)
{
    return step->phase != UPDATE;
}

// A step of a batch comes after its end, one of the update before it, wherever
// that is then; or an update reads a result of the batch.
void across_batch(Spoil *s)
{
    uint32_t how = draw(s, 3);
    PlanStep *step = draw_such_step(s, how == 0 ? of_batch : of_update);
    PlanStep *other = draw_such_step(s, how == 0 ? of_update : of_batch);
    if (how < 2) {
        PlanStep moved = *step;
        *step = *other;
        *other = moved;
    } else if (other->write_count > 0) {
        int32_t id = other->writes[draw(s, (uint32_t)other->write_count)];
        if (!has_id(step->reads, step->read_count, id))
            step->reads[step->read_count++] = id;
    }
}

static bool copies(const PlanStep *step)
{
    return step->host >= 0;
}

// A copy goes to, or comes from, another place; or another buffer becomes one.
void host(Spoil *s)
{
    PlanStep *step = draw_such_step(s, copies);
    switch (draw(s, 4)) {
    case 0: step->host = -1; break;
    case 1: step->host = draw_such_step(s, copies)->host; break;
    case 2: draw_step(s)->host = 0; break;
    default: step->host += copies(step) ? 256 * nudge(s, 8) : 0;
    }
}

void host_bytes(Spoil *s)
{
    s->plan->host_bytes += 256 * nudge(s, 8);
}

static bool waits_or_copies(const PlanStep *step)
{
    return copies(step) || step->read_count + step->write_count == 1;
}

// A copy, or a wait for one, at another time, or never, or two at each other's.
void copy_moved(Spoil *s)
{
    Plan *plan = s->plan;
    PlanStep *step = draw_such_step(s, waits_or_copies), moved = *step;
    if (!waits_or_copies(step)) return;
    if (draw(s, 4) == 0) {
        PlanStep *other = draw_such_step(s, waits_or_copies);
        *step = *other;
        *other = moved;
        return;
    }
    int to = (int)draw(s, (uint32_t)plan->step_count);
    drop_step(s, (int)(step - plan->steps));
    if (draw(s, 8) == 0) return;
    for (int i = plan->step_count++; i > to; i--)
        plan->steps[i] = plan->steps[i - 1];
    plan->steps[to] = moved;
}
