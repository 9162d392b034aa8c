/* EASY backfilling as a decision component of Batsim 5, for bench/protocol.py.

   It reads the JSON text by walking along what it expects in it, and costs little itself. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HOSTS = 4096, N_WORDS = MAX_HOSTS / 64, MAX_ID = 32, JSON = 2 };

/* A text in the message. */
typedef struct {
    const char* first;
    size_t size;
} Text;

typedef struct {
    char letters[MAX_ID]; /* filled up with zeros */
    size_t size;
} Id;

typedef struct {
    double walltime;
    int n_hosts;
    int job;
} Waiting;

typedef struct {
    double end;
    int n_hosts;
    int job;
    uint64_t* hosts; /* a bit each */
} Running;

static Id* ids; /* of jobs, in the order in which they came */
static size_t n_jobs, room_for_jobs;
static Waiting* queue; /* what has started at its front is skipped */
static size_t first_waiting, end_of_queue, room_in_queue;
static Running running[MAX_HOSTS]; /* by end */
static uint64_t bitmaps[MAX_HOSTS][N_WORDS];
static uint64_t free_hosts[N_WORDS];
static int n_running, n_free, n_words;
static char* reply;
static size_t length, capacity;

/* ---- writing ---- */

static inline void put(const char* text, size_t n) {
    memcpy(reply + length, text, n);
    length += n;
}
#define PUT(literal) put(literal, sizeof literal - 1)

static inline void make_room(size_t n) {
    if (length + n > capacity) {
        capacity = 2 * (length + n);
        reply = realloc(reply, capacity);
    }
}

/* printf is slow in processes that have extended it, as some numerical libraries do */
static void put_number(int number) {
    char digits[16];
    size_t first = sizeof digits;
    do {
        digits[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    put(digits + first, sizeof digits - first);
}

/* ---- reading ---- */

static const char* end_of_message;

/* Whether this comes next; inlined, so that the lengths of constants are known. */
static inline __attribute__((always_inline)) bool is_next(const char* at, const char* text) {
    const size_t n = strlen(text);
    return (size_t)(end_of_message - at) >= n && memcmp(at, text, n) == 0;
}

/* What follows a text, which is mostly the next thing in a message. */
static inline __attribute__((always_inline)) const char* after(const char* at, const char* text) {
    return (is_next(at, text) ? at : strstr(at, text)) + strlen(text);
}

static Text text_until(const char* first, char end) {
    const char* last = first;
    while (*last != end) {
        ++last;
    }
    return (Text){first, (size_t)(last - first)};
}

static double number_at(const char* text) {
    uint64_t whole = 0;
    const char* at = text;
    for (; *at >= '0' && *at <= '9'; ++at) {
        whole = 10 * whole + (uint64_t)(*at - '0');
    }
    const bool is_whole =
        at - text < 16 && at[0] == '.' && at[1] == '0' && (at[2] == ',' || at[2] == '}');
    return is_whole ? (double)whole : strtod(text, NULL);
}

static const char* type_of(const char* event) {
    const Text date = text_until(after(event, "{\"timestamp\":"), ',');
    return after(date.first + date.size, ",\"event_type\":\"");
}

/* Where two braces end an event. */
static const char* end_of(const char* event) {
    do {
        event = strchr(event, '}') + 1;
    } while (*event != '}');
    return event + 1;
}

static const char* read_id(const char* event, Id* id) {
    const Text text = text_until(after(event, "\",\"event\":{\"job_id\":\""), '"');
    memset(id->letters, 0, MAX_ID);
    memcpy(id->letters, text.first, text.size);
    id->size = text.size;
    return text.first + text.size;
}

/* ---- what happened ---- */

static const char* submit(const char* event) {
    if (n_jobs == room_for_jobs) {
        room_for_jobs = room_for_jobs ? 2 * room_for_jobs : 1024;
        ids = realloc(ids, room_for_jobs * sizeof *ids);
    }
    if (end_of_queue == room_in_queue) {
        room_in_queue = room_in_queue ? 2 * room_in_queue : 1024;
        queue = realloc(queue, room_in_queue * sizeof *queue);
    }
    const char* rest = after(read_id(event, &ids[n_jobs]), "\",\"job\":{\"resource_request\":");
    Waiting* job = &queue[end_of_queue++];
    job->job = (int)n_jobs++;
    job->n_hosts = 0;
    for (; *rest >= '0' && *rest <= '9'; ++rest) {
        job->n_hosts = 10 * job->n_hosts + (*rest - '0');
    }
    rest = after(rest, ",\"walltime\":");
    job->walltime = number_at(rest);
    return rest;
}

static const char* complete(const char* event) {
    Id id;
    const char* rest = read_id(event, &id);
    int i = 0;
    while (i < n_running && memcmp(ids[running[i].job].letters, id.letters, MAX_ID) != 0) {
        ++i;
    }
    if (i == n_running) {
        return rest;
    }
    const Running ended = running[i];
    for (int word = 0; word < n_words; ++word) {
        free_hosts[word] |= ended.hosts[word];
    }
    n_free += ended.n_hosts;
    memmove(&running[i], &running[i + 1], (size_t)(--n_running - i) * sizeof *running);
    running[n_running] = ended; /* its bitmap is used again */
    return rest;
}

/* ---- decisions ---- */

/* Takes the first free hosts, and writes them. */
static void take_hosts(int n, uint64_t* taken) {
    for (int word = 0; word < n_words; ++word) {
        taken[word] = 0;
        while (n > 0 && free_hosts[word] != 0) {
            const int first = __builtin_ctzll(free_hosts[word]);
            const uint64_t used = ~(free_hosts[word] >> first);
            int size = used == 0 ? 64 : __builtin_ctzll(used);
            size = size < n ? size : n;
            const uint64_t run = ~(uint64_t)0 >> (64 - size) << first;
            free_hosts[word] ^= run;
            taken[word] |= run;
            n -= size;
            put_number(64 * word + first);
            PUT("-");
            put_number(64 * word + first + size - 1);
            PUT(" ");
        }
    }
    --length; /* the last space */
}

static void start(const Waiting* job, double now, Text date) {
    int i = n_running++;
    uint64_t* hosts = running[i].hosts;
    for (const double end = now + job->walltime; i > 0 && running[i - 1].end > end; --i) {
        running[i] = running[i - 1];
    }
    running[i] = (Running){now + job->walltime, job->n_hosts, job->job, hosts};
    make_room(512 + 16 * (size_t)job->n_hosts);
    if (reply[length - 1] == '}') {
        PUT(",");
    }
    PUT("{\"timestamp\":");
    put(date.first, date.size);
    PUT(",\"event_type\":\"ExecuteJobEvent\",\"event\":{\"job_id\":\"");
    put(ids[job->job].letters, ids[job->job].size);
    PUT("\",\"allocation\":{\"host_allocation\":\"");
    take_hosts(job->n_hosts, hosts);
    PUT("\"}}}");
    n_free -= job->n_hosts;
}

static void backfill(double now, Text date) {
    /* when the first job can start, and how many hosts it will leave then */
    const int n_wanted = queue[first_waiting].n_hosts;
    int available = n_free, i = 0;
    double shadow = now;
    while (i < n_running && available < n_wanted) {
        shadow = running[i].end;
        while (i < n_running && running[i].end == shadow) {
            available += running[i++].n_hosts;
        }
    }
    int extra = available - n_wanted;
    size_t kept = first_waiting + 1, k = kept;
    for (; k < end_of_queue && n_free > 0; ++k) {
        const Waiting job = queue[k];
        const bool ends_before = now + job.walltime <= shadow;
        if (job.n_hosts <= n_free && (ends_before || job.n_hosts <= extra)) {
            extra -= ends_before ? 0 : job.n_hosts;
            start(&job, now, date);
        } else {
            queue[kept++] = job;
        }
    }
    if (kept != k) {
        memmove(&queue[kept], &queue[k], (end_of_queue - k) * sizeof *queue);
        end_of_queue -= k - kept;
    }
}

static void decide(double now, Text date) {
    while (first_waiting < end_of_queue && queue[first_waiting].n_hosts <= n_free) {
        start(&queue[first_waiting++], now, date);
    }
    if (first_waiting == end_of_queue) {
        first_waiting = end_of_queue = 0;
    } else if (first_waiting + 1 < end_of_queue && n_free > 0) {
        backfill(now, date);
    }
}

/* ---- the component ---- */

static const char* begin(const char* event) {
    n_free = (int)number_at(after(event, "\"computation_host_number\":"));
    n_words = (n_free + 63) / 64;
    memset(free_hosts, 0, sizeof free_hosts);
    for (int host = 0; host < n_free; ++host) {
        free_hosts[host / 64] |= (uint64_t)1 << host % 64;
    }
    const char* next = strstr(event, "}},{\"timestamp\":");
    return next != NULL ? next : strstr(event, "}}]}");
}

uint8_t batsim_edc_init(const uint8_t* init_data, uint32_t init_size, uint32_t* flags,
                        uint8_t** reply_data, uint32_t* reply_size) {
    static char hello[] =
        "{\"now\":0.0,\"events\":[{\"timestamp\":0.0,\"event_type\":\"EDCHelloEvent\",\"event\":{"
        "\"decision_component_name\":\"easy\",\"requested_simulation_features\":{}}}]}";
    (void)init_data;
    (void)init_size;
    n_jobs = first_waiting = end_of_queue = 0;
    n_running = 0;
    for (int i = 0; i < MAX_HOSTS; ++i) {
        running[i].hosts = bitmaps[i];
    }
    *flags = JSON;
    *reply_data = (uint8_t*)hello;
    *reply_size = sizeof hello;
    return 0;
}

uint8_t batsim_edc_deinit(void) { return 0; }

uint8_t batsim_edc_take_decisions(const uint8_t* what_happened, uint32_t what_happened_size,
                                  uint8_t** decisions, uint32_t* decisions_size) {
    const Text date = text_until(after((const char*)what_happened, "{\"now\":"), ',');
    const double now = number_at(date.first);
    end_of_message = (const char*)what_happened + what_happened_size;
    length = 0;
    make_room(512);
    PUT("{\"now\":");
    put(date.first, date.size);
    PUT(",\"events\":[");
    const char* event = after(date.first + date.size, ",\"events\":[");
    do {
        const char* type = type_of(event);
        if (is_next(type, "JobSubmittedEvent")) {
            event = submit(type + strlen("JobSubmittedEvent"));
        } else if (is_next(type, "JobCompletedEvent")) {
            event = complete(type + strlen("JobCompletedEvent"));
        } else if (is_next(type, "SimulationBeginsEvent")) {
            event = begin(type);
        } else {
            event = type;
        }
        event = end_of(event);
    } while (*event++ == ',');
    decide(now, date);
    make_room(2);
    PUT("]}");
    *decisions = (uint8_t*)reply;
    *decisions_size = (uint32_t)length;
    return 0;
}
