/* EASY backfilling as a decision component of Batsim 5, for bench/protocol.py.

   It finds what it needs in the JSON text by scanning, and costs next to nothing itself. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HOSTS = 4096, MAX_ID = 32, JSON = 2, NOBODY = -1 };

/* Ids are filled up with zeros. */
typedef struct {
    char id[MAX_ID];
    int n_hosts;
    double walltime;
} Job;

typedef struct {
    char id[MAX_ID];
    int n_hosts;
    int number;
    double end;
} Running;

static Job* queue;
static size_t n_queue, room;
static Running running[MAX_HOSTS]; /* by end */
static int n_running, n_started, n_free, n_hosts;
static int user[MAX_HOSTS]; /* the number of the job on a host, or NOBODY */
static char* reply;
static size_t length, capacity;

static inline void put(const char* text, size_t n) {
    if (length + n + 1 > capacity) {
        capacity = 2 * (length + n + 1);
        reply = realloc(reply, capacity);
    }
    memcpy(reply + length, text, n);
    length += n;
}

/* inlined, so that the lengths of constants are known */
static inline __attribute__((always_inline)) void put_text(const char* text) {
    put(text, strlen(text));
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

static double number_at(const char* text) {
    double whole = 0;
    const char* at = text;
    for (; *at >= '0' && *at <= '9'; ++at) {
        whole = 10 * whole + (*at - '0');
    }
    const bool is_whole = at - text < 16 && at[0] == '.' && at[1] == '0' && strchr(",}", at[2]);
    return is_whole ? whole : strtod(text, NULL);
}

/* What follows a key, which is mostly the next thing in a message. */
static inline __attribute__((always_inline)) const char* after(const char* from, const char* key) {
    const size_t n = strlen(key);
    return (strncmp(from, key, n) == 0 ? from : strstr(from, key)) + n;
}

static const char* id_in(const char* from, char* id) {
    const char* first = after(from, "\",\"event\":{\"job_id\":\"");
    const char* last = strchr(first, '"');
    memset(id, 0, MAX_ID);
    memcpy(id, first, (size_t)(last - first));
    return last;
}

static const char* submit(const char* event) {
    if (n_queue == room) {
        room = room ? 2 * room : 1024;
        queue = realloc(queue, room * sizeof *queue);
    }
    Job* job = &queue[n_queue++];
    const char* rest = after(id_in(event, job->id), "\",\"job\":{\"resource_request\":");
    job->n_hosts = (int)strtol(rest, (char**)&rest, 10);
    rest = after(rest, ",\"walltime\":");
    job->walltime = number_at(rest);
    return rest;
}

static bool is_same(const char* id, const char* other) {
    uint64_t x[MAX_ID / 8], y[MAX_ID / 8];
    memcpy(x, id, MAX_ID);
    memcpy(y, other, MAX_ID);
    return x[0] == y[0] && x[1] == y[1] && x[2] == y[2] && x[3] == y[3];
}

static const char* complete(const char* event) {
    char id[MAX_ID];
    const char* rest = id_in(event, id);
    int i = 0;
    while (i < n_running && !is_same(running[i].id, id)) {
        ++i;
    }
    if (i == n_running) {
        return rest;
    }
    for (int host = 0; host < n_hosts; ++host) {
        user[host] = user[host] == running[i].number ? NOBODY : user[host];
    }
    n_free += running[i].n_hosts;
    memmove(&running[i], &running[i + 1], (size_t)(--n_running - i) * sizeof *running);
    return rest;
}

static int enter(const Job* job, double end) {
    int i = n_running++;
    for (; i > 0 && running[i - 1].end > end; --i) {
        running[i] = running[i - 1];
    }
    memcpy(running[i].id, job->id, MAX_ID);
    running[i].n_hosts = job->n_hosts;
    running[i].end = end;
    return running[i].number = n_started++;
}

static void start(size_t position, double now, const char* date) {
    const Job* job = &queue[position];
    const int number = enter(job, now + job->walltime);
    put_text(reply[length - 1] == '[' ? "{\"timestamp\":" : ",{\"timestamp\":");
    put_text(date);
    put_text(",\"event_type\":\"ExecuteJobEvent\",\"event\":{\"job_id\":\"");
    put_text(job->id);
    put_text("\",\"allocation\":{\"host_allocation\":\"");
    int host = 0;
    for (int taken = 0; taken < job->n_hosts;) {
        while (user[host] != NOBODY) {
            ++host;
        }
        const int first = host;
        while (taken < job->n_hosts && host < n_hosts && user[host] == NOBODY) {
            user[host++] = number;
            ++taken;
        }
        put_text(reply[length - 1] == '"' ? "" : " ");
        put_number(first);
        put_text("-");
        put_number(host - 1);
    }
    put("\"}}}", 4);
    n_free -= job->n_hosts;
    memmove(&queue[position], &queue[position + 1], (--n_queue - position) * sizeof *queue);
}

static void decide(double now, const char* date) {
    while (n_queue > 0 && queue[0].n_hosts <= n_free) {
        start(0, now, date);
    }
    if (n_queue < 2 || n_free == 0) {
        return;
    }
    /* when the first job can start, and how many hosts it will leave then */
    int available = n_free, i = 0;
    double shadow = now;
    while (i < n_running && available < queue[0].n_hosts) {
        shadow = running[i].end;
        while (i < n_running && running[i].end == shadow) {
            available += running[i++].n_hosts;
        }
    }
    int extra = available - queue[0].n_hosts;
    for (size_t k = 1; k < n_queue && n_free > 0;) {
        const Job* job = &queue[k];
        const bool ends_before = now + job->walltime <= shadow;
        if (job->n_hosts <= n_free && (ends_before || job->n_hosts <= extra)) {
            extra -= ends_before ? 0 : job->n_hosts;
            start(k, now, date);
        } else {
            ++k;
        }
    }
}

uint8_t batsim_edc_init(const uint8_t* init_data, uint32_t init_size, uint32_t* flags,
                        uint8_t** reply_data, uint32_t* reply_size) {
    static char hello[] =
        "{\"now\":0.0,\"events\":[{\"timestamp\":0.0,\"event_type\":\"EDCHelloEvent\",\"event\":{"
        "\"decision_component_name\":\"easy\",\"requested_simulation_features\":{}}}]}";
    (void)init_data;
    (void)init_size;
    n_queue = 0;
    n_running = 0;
    *flags = JSON;
    *reply_data = (uint8_t*)hello;
    *reply_size = sizeof hello;
    return 0;
}

uint8_t batsim_edc_deinit(void) { return 0; }

uint8_t batsim_edc_take_decisions(const uint8_t* what_happened, uint32_t what_happened_size,
                                  uint8_t** decisions, uint32_t* decisions_size) {
    static const char key[] = "\"event_type\":\"", submitted[] = "JobSubmittedEvent",
                      completed[] = "JobCompletedEvent", begins[] = "SimulationBeginsEvent";
    const char* text = (const char*)what_happened;
    (void)what_happened_size;
    char date[64] = "";
    const char* first = after(text, "{\"now\":");
    memcpy(date, first, (size_t)(strchr(first, ',') - first));
    const double now = number_at(first);
    length = 0;
    put("{\"now\":", 7);
    put(date, strlen(date));
    put(",\"events\":[", 11);
    for (const char* at = strstr(first, key); at != NULL; at = strstr(at, key)) {
        at += sizeof key - 1;
        if (strncmp(at, submitted, sizeof submitted - 1) == 0) {
            at = submit(at + sizeof submitted - 1);
        } else if (strncmp(at, completed, sizeof completed - 1) == 0) {
            at = complete(at + sizeof completed - 1);
        } else if (strncmp(at, begins, sizeof begins - 1) == 0) {
            n_hosts = n_free = (int)number_at(after(at, "\"computation_host_number\":"));
            memset(user, NOBODY, sizeof user);
        }
    }
    decide(now, date);
    put("]}", 2);
    *decisions = (uint8_t*)reply;
    *decisions_size = (uint32_t)length;
    return 0;
}
