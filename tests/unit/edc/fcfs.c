/* A decision component of Batsim 5 that finds what it needs in the JSON text by scanning.

   It runs one job at a time, in their order, on the first hosts. Its initialisation text may ask
   for something else: reject, binary, init_fails, decide_fails, deinit_fails, no_buffer, huge. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 1000, MAX_ID = 64 };

static char mode[32];
static char ids[MANY][MAX_ID];
static int sizes[MANY];
static int n_jobs, n_started, is_busy;
static char reply[1 << 16];

static int is_mode(const char* name) { return strcmp(mode, name) == 0; }

uint8_t batsim_edc_init(const uint8_t* init_data, uint32_t init_size, uint32_t* flags,
                        uint8_t** reply_data, uint32_t* reply_size) {
    snprintf(mode, sizeof mode, "%.*s", (int)init_size, (const char*)init_data);
    n_jobs = n_started = is_busy = 0;
    snprintf(reply, sizeof reply,
             "{\"now\":0.0,\"events\":[{\"timestamp\":0.0,\"event_type\":\"EDCHelloEvent\","
             "\"event\":{\"decision_component_name\":\"fcfs.c\","
             "\"requested_simulation_features\":{}}}]}");
    *flags = is_mode("binary") ? 1 : 2;
    *reply_data = (uint8_t*)reply;
    *reply_size = (uint32_t)strlen(reply);
    return is_mode("init_fails") ? 3 : 0;
}

uint8_t batsim_edc_deinit(void) { return is_mode("deinit_fails") ? 5 : 0; }

uint8_t batsim_edc_take_decisions(const uint8_t* what_happened, uint32_t what_happened_size,
                                  uint8_t** decisions, uint32_t* decisions_size) {
    const char* text = (const char*)what_happened;
    const double now = strtod(strstr(text, "\"now\":") + 6, NULL);
    /* the text ends with a NUL, which is counted */
    if (is_mode("decide_fails") || text[what_happened_size - 1] != '\0') {
        return 4;
    }
    int n = snprintf(reply, sizeof reply, "{\"now\":%.12g,\"events\":[", now);
    for (const char* at = strstr(text, "\"event_type\":\"Job"); at != NULL;
         at = strstr(at + 1, "\"event_type\":\"Job")) {
        const char* id = strstr(at, "\"job_id\":\"") + 10;
        if (strncmp(at + 14, "JobSubmitted", 12) == 0) {
            snprintf(ids[n_jobs], MAX_ID, "%.*s", (int)strcspn(id, "\""), id);
            sizes[n_jobs++] = atoi(strstr(at, "\"resource_request\":") + 19);
        } else if (strncmp(at + 14, "JobCompleted", 12) == 0) {
            is_busy = 0;
        }
    }
    while (n_started < n_jobs && !is_busy) {
        const char* comma = reply[n - 1] == '[' ? "" : ",";
        if (is_mode("reject")) {
            n += snprintf(reply + n, sizeof reply - (size_t)n,
                          "%s{\"timestamp\":%.12g,\"event_type\":\"RejectJobEvent\","
                          "\"event\":{\"job_id\":\"%s\"}}",
                          comma, now, ids[n_started++]);
            continue;
        }
        n += snprintf(reply + n, sizeof reply - (size_t)n,
                      "%s{\"timestamp\":%.12g,\"event_type\":\"ExecuteJobEvent\",\"event\":{"
                      "\"job_id\":\"%s\",\"allocation\":{\"host_allocation\":\"0-%d\"}}}",
                      comma, now, ids[n_started], sizes[n_started] - 1);
        ++n_started;
        is_busy = 1;
    }
    n += snprintf(reply + n, sizeof reply - (size_t)n, "]}");
    *decisions = is_mode("no_buffer") ? NULL : (uint8_t*)reply;
    *decisions_size = is_mode("huge") ? UINT32_MAX : (uint32_t)n;
    return 0;
}
