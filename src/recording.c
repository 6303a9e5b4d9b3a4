/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "recording.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base.h"
#include "buffer.h"
#include "clock.h"
#include "region.h"
#include "runtime.h"

/* ---- the events (or operations) of all threads in order of their start ---- */

enum kind { EVENTS, OPS };

struct record {
    uint64_t start, end; /* ticks */
    uint32_t region;
    const struct sc_op *op;
};

struct source {
    struct sc_cursor cursor;
    struct record head;
};

struct stream {
    enum kind kind;
    struct source *heap; /* least start first */
    size_t count;
    uint64_t last; /* tick that ends what is open */
};

/* Reads the source's next record into its head; false: there is none. */
static bool advance(const struct stream *s, struct source *source)
{
    struct record *head = &source->head;

    if (s->kind == OPS) {
        const struct sc_op *op;
        do { /* what is only counted has no row */
            op = sc_cursor_op(&source->cursor);
            if (op == NULL)
                return false;
        } while ((op->flags & SC_OP_MANY) != 0 || sc_op_is_late(op, s->last));
        *head = (struct record){op->start, op->end, op->region, op};
    } else {
        struct scope_event_1_ *e;
        do { /* a thread that did not notice the end may begin after it */
            e = sc_cursor_event(&source->cursor);
            if (e == NULL)
                return false;
            head->start = sc_event_start(e);
        } while (head->start > s->last);
        head->end = sc_event_end(e, s->last);
        head->region = sc_event_region(e);
        head->op = NULL;
    }
    return true;
}

static void sift_down(struct stream *s, size_t i)
{
    for (;;) {
        size_t least = i, child = 2 * i + 1;
        struct source moved;

        if (child < s->count && s->heap[child].head.start < s->heap[least].head.start)
            least = child;
        if (child + 1 < s->count && s->heap[child + 1].head.start < s->heap[least].head.start)
            least = child + 1;
        if (least == i)
            return;
        moved = s->heap[i];
        s->heap[i] = s->heap[least];
        s->heap[least] = moved;
        i = least;
    }
}

static int stream_open(struct stream *s, enum kind kind)
{
    size_t capacity = 0;

    *s = (struct stream){.kind = kind, .last = sc_runtime_end_ticks()};
    for (struct sc_thread *t = NULL; (t = sc_buffer_next_thread(t)) != NULL;) {
        struct source *source;

        if (sc_array_reserve(&s->heap, &capacity, s->count + 1, sizeof *s->heap) != 0) {
            free(s->heap);
            return SC_ENOMEM;
        }
        source = &s->heap[s->count];
        *source = (struct source){0};
        if (kind == OPS)
            sc_cursor_renew_ops(&source->cursor, t);
        else
            sc_cursor_renew_events(&source->cursor, t);
        if (advance(s, source))
            s->count++;
    }
    for (size_t i = s->count; i-- > 0;)
        sift_down(s, i);
    return 0;
}

static bool stream_next(struct stream *s, struct record *out)
{
    if (s->count == 0)
        return false;
    *out = s->heap[0].head;
    if (!advance(s, &s->heap[0]))
        s->heap[0] = s->heap[--s->count];
    sift_down(s, 0);
    return true;
}

static void stream_close(struct stream *s)
{
    free(s->heap);
    s->heap = NULL;
}

/* ---- the recording ---- */

struct sc_recording_private {
    struct sc_recording public;
    uint32_t *slice_of; /* [regions] slice + 1, 0 none */
    uint32_t regions;
    struct progress {
        uint64_t rows;       /* seen in this pass */
        uint64_t last_start; /* ticks */
    } * progress;            /* [slices] */
};

static struct sc_recording_private *inner(struct sc_recording *r)
{
    return (struct sc_recording_private *)(void *)r;
}

static void count_row(struct sc_slice *slice, const struct record *r)
{
    struct sc_row_summary *sum = &slice->summary;
    int64_t start = sc_clock_ns(r->start), end = sc_clock_ns(r->end);
    int64_t time = end - start;
    double delta = (double)time - sum->mean;

    if (slice->rows == 0) {
        sum->minimum = sum->maximum = sum->first = time;
        sum->start_minimum = start;
        sum->end_maximum = end;
    }
    slice->rows++;
    if (r->op != NULL)
        slice->ops++;
    sum->total += time;
    sum->last = time;
    if (time < sum->minimum)
        sum->minimum = time;
    if (time > sum->maximum)
        sum->maximum = time;
    if (end > sum->end_maximum)
        sum->end_maximum = end;
    sum->mean += delta / (double)slice->rows;
    sum->m2 += delta * ((double)time - sum->mean);
}

static bool is_done(const struct sc_part *part)
{
    /* Pairs with the release in sc_part_done(): the part's fields are final. */
    return __atomic_load_n(&part->state, __ATOMIC_ACQUIRE) == SC_PART_DONE;
}

/* The optional columns in which an operation has something to say. */
static unsigned columns_of(const struct sc_op *op)
{
    unsigned has = 0;

    if ((op->flags & SC_OP_FAILED) != 0)
        has |= SC_HAS_ERRORS;
    else if (op->tag >= 0)
        has |= SC_HAS_TAGS;
    if (op->object >= 0)
        has |= SC_HAS_OBJECTS;
    if (op->site >= 0)
        has |= SC_HAS_SITES;
    for (const struct sc_part *part = op->parts; part != NULL; part = part->next) {
        if ((part->flags & SC_PART_REQUEST) != 0)
            has |= SC_HAS_REQUESTS | (is_done(part) && part->done > 0 ? SC_HAS_AWAIT : 0);
        if (part->tag >= 0)
            has |= SC_HAS_TAGS;
    }
    return has;
}

/* Counts all rows of one kind into slices indexed by region. */
static int count_rows(struct sc_recording_private *p, struct sc_slice *by_region, enum kind kind)
{
    struct stream s;
    struct record r;
    int rc = stream_open(&s, kind);

    if (rc != 0)
        return rc;
    while (stream_next(&s, &r)) {
        if (r.region >= p->regions) { /* a handle that was never given out */
            p->public.rank.lost++;
            continue;
        }
        count_row(&by_region[r.region], &r);
        if (r.op != NULL)
            p->public.has |= columns_of(r.op);
    }
    stream_close(&s);
    return 0;
}

static int make_slices(struct sc_recording_private *p)
{
    struct sc_slice *by_region = calloc((size_t)p->regions + 1, sizeof *by_region);
    size_t count = 0;
    int rc = by_region == NULL ? SC_ENOMEM : count_rows(p, by_region, EVENTS);

    if (rc == 0 && sc_buffer_keeps_ops())
        rc = count_rows(p, by_region, OPS);
    for (uint32_t i = 0; rc == 0 && i < p->regions; i++) {
        if (by_region[i].rows == 0)
            continue;
        by_region[i].region = i;
        by_region[count++] = by_region[i];
    }
    p->public.slices = by_region;
    p->public.slice_count = count;
    return rc;
}

static uint64_t counted(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void add_counts(struct sc_row_rank *row, const struct sc_counts *c)
{
    row->threads += (uint32_t)counted(&c->threads);
    row->lost += counted(&c->lost);
    row->paused += counted(&c->paused);
    row->unmatched += counted(&c->unmatched);
    row->unfinished += counted(&c->unfinished);
    row->crossed += counted(&c->crossed);
    row->memory_bytes += counted(&c->memory_bytes);
    row->own_memory_ns += (int64_t)counted(&c->own_memory_ns);
}

/* Events still open are closed by the end of the recording. */
static void count_unfinished(struct sc_recording *r)
{
    for (struct sc_thread *t = NULL; (t = sc_buffer_next_thread(t)) != NULL;) {
        struct sc_cursor c = {0};
        struct scope_event_1_ *e;

        sc_cursor_renew_events(&c, t);
        while ((e = sc_cursor_event(&c)) != NULL)
            if (sc_event_end(e, 0) == 0)
                r->rank.unfinished++;
    }
}

static void add_mpi_time(struct sc_row_rank *row, const struct sc_thread *t)
{
    size_t count;
    const struct sc_path *path = sc_callpath_paths(t->callpath, &count);

    for (size_t i = 0; i < count; i++) {
        if (sc_region_get(path[i].region)->kind != SC_REGION_MPI)
            continue;
        row->mpi_calls += path[i].calls;
        row->mpi_ns += path[i].total;
        if (t == sc_runtime_main_thread())
            row->mpi_main_ns += path[i].total;
    }
}

static int replay_threads(struct sc_recording *r)
{
    int rc = 0;

    r->paths = sc_callpath_create();
    if (r->paths == NULL)
        return SC_ENOMEM;
    for (struct sc_thread *t = NULL; (t = sc_buffer_next_thread(t)) != NULL;) {
        add_counts(&r->rank, &t->counts);
        if (t->callpath == NULL)
            t->callpath = sc_callpath_create();
        if (t->callpath == NULL)
            return SC_ENOMEM;
        rc = sc_callpath_replay(t->callpath, t, sc_runtime_end_ticks());
        if (rc == 0)
            rc = sc_callpath_merge(r->paths, t->callpath);
        if (rc != 0)
            return rc;
        add_mpi_time(&r->rank, t);
    }
    return 0;
}

static void sum_exclusive(struct sc_recording *r)
{
    size_t count;
    const struct sc_path *path = sc_callpath_paths(r->paths, &count);

    for (size_t i = 0; i < count; i++) {
        uint32_t slice =
            path[i].region < inner(r)->regions ? inner(r)->slice_of[path[i].region] : 0;
        if (slice > 0)
            r->slices[slice - 1].exclusive += path[i].exclusive;
    }
}

static void fill_rank(struct sc_recording *r)
{
    r->rank.start_ns = sc_runtime_begin_ns();
    r->rank.end_ns = sc_runtime_end_ns();
    r->rank.mpi_events = r->ops;
    r->rank.events = r->rows - r->ops;
    r->rank.own_event_ns = (int64_t)((double)r->rank.events * sc_runtime_pair_cost());
}

int sc_recording_create(struct sc_recording **out)
{
    struct sc_recording_private *p = calloc(1, sizeof *p);
    struct sc_recording *r = &p->public;
    int rc = SC_ENOMEM;

    if (p == NULL)
        goto out;
    p->regions = sc_region_count();
    rc = make_slices(p);
    if (rc == 0)
        rc = replay_threads(r);
    if (rc != 0)
        goto out;
    rc = SC_ENOMEM;
    p->slice_of = calloc((size_t)p->regions + 1, sizeof *p->slice_of);
    p->progress = calloc(r->slice_count + 1, sizeof *p->progress);
    if (p->slice_of == NULL || p->progress == NULL)
        goto out;
    sc_recording_order(r, NULL);
    sum_exclusive(r);
    count_unfinished(r);
    fill_rank(r);
    rc = 0;
out:
    if (rc != 0) {
        sc_fail(rc, "no memory to order what was recorded");
        sc_recording_free(p == NULL ? NULL : r);
    } else {
        *out = r;
    }
    return rc;
}

void sc_recording_free(struct sc_recording *r)
{
    if (r == NULL)
        return;
    sc_callpath_free(r->paths);
    free(r->slices);
    free(inner(r)->slice_of);
    free(inner(r)->progress);
    free(inner(r));
}

static int compare_slices(const void *a, const void *b, void *key)
{
    uint32_t x = ((const struct sc_slice *)a)->region, y = ((const struct sc_slice *)b)->region;

    if (key != NULL) {
        x = ((const uint32_t *)key)[x];
        y = ((const uint32_t *)key)[y];
    }
    return (x > y) - (x < y);
}

void sc_recording_order(struct sc_recording *r, const uint32_t *key)
{
    if (key != NULL)
        qsort_r(r->slices, r->slice_count, sizeof *r->slices, compare_slices, (void *)key);
    r->rows = r->ops = 0;
    for (size_t i = 0; i < r->slice_count; i++) {
        inner(r)->slice_of[r->slices[i].region] = (uint32_t)i + 1;
        r->slices[i].first_row = r->rows;
        r->slices[i].first_op = r->ops;
        r->rows += r->slices[i].rows;
        r->ops += r->slices[i].ops;
    }
}

/* Where the record belongs: its slice's number, and its row there counted from 0. False: in none.
 */
static bool locate(struct sc_recording_private *p, const struct record *r, uint32_t *slice,
                   uint64_t *row, uint64_t *previous)
{
    uint32_t found = r->region < p->regions ? p->slice_of[r->region] : 0;
    struct progress *pr;

    if (found == 0)
        return false;
    pr = &p->progress[found - 1];
    if (pr->rows >= p->public.slices[found - 1].rows)
        return false;
    *slice = found - 1;
    *row = pr->rows++;
    *previous = pr->last_start;
    pr->last_start = r->start;
    return true;
}

/* One pass over the lanes of a kind; the same for both row producers. */
static int begin_pass(struct sc_recording_private *p, struct stream *s, enum kind kind)
{
    for (size_t i = 0; i < p->public.slice_count; i++)
        p->progress[i] = (struct progress){0, 0};
    return stream_open(s, kind);
}

/* How many rows of one kind lie in a window of event rows. */
static uint64_t rows_within(const struct sc_recording *r, enum kind kind, uint64_t first,
                            uint64_t count)
{
    uint64_t found = 0;

    for (size_t i = 0; i < r->slice_count; i++) {
        const struct sc_slice *s = &r->slices[i];
        uint64_t from = s->first_row > first ? s->first_row : first;
        uint64_t to =
            s->first_row + s->rows < first + count ? s->first_row + s->rows : first + count;
        if ((s->ops > 0) == (kind == OPS) && from < to)
            found += to - from;
    }
    return found;
}

/* The longest time that the program waited for something the operation started, ns; -1: for
 * nothing.
 */
static int64_t await_of(const struct sc_op *op)
{
    int64_t longest = -1;

    for (const struct sc_part *part = op == NULL ? NULL : op->parts; part != NULL;
         part = part->next) {
        int64_t await = (int64_t)sc_clock_length((double)part->await);
        if ((part->flags & SC_PART_REQUEST) != 0 && is_done(part) && part->done > 0 &&
            await > longest)
            longest = await;
    }
    return longest;
}

int sc_recording_event_rows(struct sc_recording *r, uint64_t first, size_t count, int64_t offset_ns,
                            int64_t *start_deltas, int64_t *durations, int64_t *awaits)
{
    for (int kind = EVENTS; kind <= OPS; kind++) {
        uint64_t missing = rows_within(r, (enum kind)kind, first, count);
        struct stream s;
        struct record rec;
        uint32_t slice;
        uint64_t row, previous;

        if (missing == 0)
            continue;
        if (begin_pass(inner(r), &s, (enum kind)kind) != 0)
            return sc_fail(SC_ENOMEM, "no memory to read what was recorded");
        while (missing > 0 && stream_next(&s, &rec)) {
            int64_t start;

            if (!locate(inner(r), &rec, &slice, &row, &previous))
                continue;
            row += r->slices[slice].first_row;
            if (row - first >= count)
                continue; /* below first wraps around to a large number */
            missing--;
            start = sc_clock_ns(rec.start);
            durations[row - first] = sc_clock_ns(rec.end) - start;
            if (awaits != NULL)
                awaits[row - first] = await_of(rec.op);
            start_deltas[row - first] = row == r->slices[slice].first_row
                                            ? start + offset_ns
                                            : start - sc_clock_ns(previous);
        }
        stream_close(&s);
    }
    return 0;
}

static int32_t mapped(const int32_t *map, int32_t number)
{
    return number < 0 ? -1 : map[number];
}

/* An operation as one row: what it has itself comes before what its parts have. */
static void set_row(uint64_t row, const struct sc_op *op, const struct sc_op_maps *maps,
                    const struct sc_op_columns *columns)
{
    const bool failed = (op->flags & SC_OP_FAILED) != 0;
    int32_t comm = -1, peer = -1, tag = -1;
    uint64_t sent = op->sent, received = op->received;
    int64_t request = -1;

    for (const struct sc_part *part = op->parts; part != NULL; part = part->next) {
        comm = part->comm >= 0 ? part->comm : comm; /* the first one comes last */
        peer = part->peer >= 0 ? part->peer : peer;
        tag = part->tag >= 0 ? part->tag : tag;
        request = part->id >= 0 ? part->id : request;
        sent += part->sent;
        received += part->received;
    }
    if (!failed && op->tag >= 0)
        tag = op->tag;
    columns->comms[row] = mapped(maps->comm, op->comm >= 0 ? op->comm : comm);
    columns->peers[row] = op->peer >= 0 ? op->peer : peer;
    columns->sent[row] = sent;
    columns->received[row] = received;
    if (columns->tags != NULL)
        columns->tags[row] = tag;
    if (columns->objects != NULL)
        columns->objects[row] = mapped(maps->object, op->object);
    if (columns->sites != NULL)
        columns->sites[row] = mapped(maps->site, op->site);
    if (columns->errors != NULL)
        columns->errors[row] = failed ? op->tag : 0;
    if (columns->requests != NULL)
        columns->requests[row] = request;
}

int sc_recording_op_rows(struct sc_recording *r, uint64_t first, size_t count,
                         const struct sc_op_maps *maps, const struct sc_op_columns *columns)
{
    struct stream s;
    struct record rec;
    uint32_t slice;
    uint64_t row, previous;

    if (begin_pass(inner(r), &s, OPS) != 0)
        return sc_fail(SC_ENOMEM, "no memory to read what was recorded");
    while (stream_next(&s, &rec)) {
        if (!locate(inner(r), &rec, &slice, &row, &previous))
            continue;
        row += r->slices[slice].first_op - first;
        if (row < count)
            set_row(row, rec.op, maps, columns);
    }
    stream_close(&s);
    return 0;
}
