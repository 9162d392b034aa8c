/* Waits in the way that its first argument names, and tells the time. Built by the tests. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static struct timespec date(clockid_t clock, long seconds) {
    struct timespec until;
    clock_gettime(clock, &until);
    until.tv_sec += seconds;
    return until;
}

static void tell(long long value) {
    printf("%lld\n", value);
    fflush(stdout);
}

static void readings(void) {
    struct timeval day;
    struct timezone zone = {7, 7};
    time_t stored = 0, returned;
    tell(nanoseconds(CLOCK_REALTIME));
    tell(nanoseconds(CLOCK_REALTIME_COARSE));
    gettimeofday(&day, &zone);
    tell(day.tv_sec * 1000000LL + day.tv_usec);
    gettimeofday(&day, NULL);
    returned = time(&stored);
    tell(returned);
    tell(stored - returned);
    tell(time(NULL) - returned);
    tell(nanoseconds(CLOCK_BOOTTIME) - nanoseconds(CLOCK_MONOTONIC));
    tell(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) < 5000000000LL);
    tell(clock_gettime(12345, &(struct timespec){0}));
}

static void wait_once(const char *how, long seconds) {
    struct timespec length = {seconds, 0}, until;
    if (!strcmp(how, "nanosleep")) {
        nanosleep(&length, NULL);
    } else if (!strcmp(how, "sleep")) {
        tell(sleep(seconds));
    } else if (!strcmp(how, "date")) {
        until = date(CLOCK_MONOTONIC, seconds);
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    } else if (!strcmp(how, "past")) {
        until = date(CLOCK_REALTIME, -seconds);
        clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
    } else if (!strcmp(how, "poll")) {
        tell(poll(NULL, 0, seconds * 1000));
    } else if (!strcmp(how, "ppoll")) {
        tell(ppoll(NULL, 0, &length, NULL));
    } else if (!strcmp(how, "select")) {
        struct timeval left = {seconds, 0};
        fd_set set;
        int ends[2];
        FD_ZERO(&set);
        if (pipe(ends)) exit(1);
        FD_SET(ends[0], &set);
        tell(select(ends[0] + 1, &set, NULL, NULL, &left));
        tell(FD_ISSET(ends[0], &set) != 0);
        tell(left.tv_sec + left.tv_usec);
    } else if (!strcmp(how, "epoll")) {
        struct epoll_event event;
        tell(epoll_wait(epoll_create1(0), &event, 1, seconds * 1000));
    } else if (!strcmp(how, "condition")) {
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
        pthread_mutex_lock(&mutex);
        until = date(CLOCK_REALTIME, seconds);
        tell(pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT);
    } else if (!strcmp(how, "semaphore")) {
        sem_t semaphore;
        sem_init(&semaphore, 0, 0);
        until = date(CLOCK_REALTIME, seconds);
        tell(sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT);
    } else if (!strcmp(how, "signal")) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        tell(sigtimedwait(&set, NULL, &length) == -1 && errno == EAGAIN);
    } else {
        exit(64);
    }
}

static void *sleep_in_turn(void *period) {
    for (long i = 1; i <= 6 / (long)period; ++i) {
        struct timespec length = {(long)period, 0};
        nanosleep(&length, NULL);
        printf("%ld at %lld\n", (long)period, nanoseconds(CLOCK_MONOTONIC));
        fflush(stdout);
    }
    return NULL;
}

static void threads(void) {
    pthread_t two, three;
    pthread_create(&two, NULL, sleep_in_turn, (void *)2);
    pthread_create(&three, NULL, sleep_in_turn, (void *)3);
    pthread_join(two, NULL);
    pthread_join(three, NULL);
}

static void *sleep_alone(void *seconds) {
    struct timespec length = {(long)seconds, 0};
    nanosleep(&length, NULL);
    tell(nanoseconds(CLOCK_MONOTONIC));
    return NULL;
}

static void *wait_for_ever(void *unused) {
    for (;;) pause();
    return unused;
}

/* Looks at the clock every few microseconds, while many others wait. */
static void restless(long seconds) {
    struct timespec little = {0, 20000};
    long long end = nanoseconds(CLOCK_MONOTONIC) + seconds * 1000000000LL;
    for (int i = 0; i < 100; ++i) {
        pthread_t other;
        pthread_create(&other, NULL, wait_for_ever, NULL);
    }
    while (nanoseconds(CLOCK_MONOTONIC) < end) nanosleep(&little, NULL);
    tell(nanoseconds(CLOCK_MONOTONIC));
}

static void family(int elsewhere) {
    for (int i = 0; i < 2; ++i) {
        pid_t child = fork();
        if (child == 0) {
            signal(SIGTERM, SIG_IGN);
            if (elsewhere) setsid();
            for (;;) pause();
        }
        tell(child);
    }
    for (;;) pause();
}

int main(int count, char **arguments) {
    const char *how = arguments[1];
    long seconds = count > 2 ? atol(arguments[2]) : 0;
    long times = count > 3 ? atol(arguments[3]) : 1;
    if (!strcmp(how, "readings")) {
        readings();
    } else if (!strcmp(how, "crash")) {
        abort();
    } else if (!strcmp(how, "exit")) {
        exit((int)seconds);
    } else if (!strcmp(how, "family")) {
        family(seconds != 0);
    } else if (!strcmp(how, "stubborn")) {
        signal(SIGTERM, SIG_IGN);
        tell(0);
        for (;;) sleep((unsigned)seconds);
    } else if (!strcmp(how, "stuck")) {
        int ends[2];
        char byte;
        if (pipe(ends) || read(ends[0], &byte, 1)) exit(1);
    } else if (!strcmp(how, "spin")) {
        for (volatile long n = 0;; ++n) continue;
    } else if (!strcmp(how, "socket")) {
        int ends[2];
        char byte;
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || read(ends[0], &byte, 1)) exit(1);
    } else if (!strcmp(how, "leaderless")) {
        pthread_t other;
        pthread_create(&other, NULL, sleep_alone, (void *)seconds);
        pthread_exit(NULL);
    } else if (!strcmp(how, "threads")) {
        threads();
    } else if (!strcmp(how, "restless")) {
        restless(seconds);
        exit(0);
    } else if (!strcmp(how, "environment")) {
        for (char **setting = environ; *setting; ++setting) puts(*setting);
        for (int i = 2; i < count; ++i) puts(arguments[i]);
    } else if (!strcmp(how, "random")) {
        unsigned char *bytes = (unsigned char *)getauxval(AT_RANDOM);
        for (int i = 0; i < 16; ++i) printf("%02x", bytes[i]);
    } else if (!strcmp(how, "escape")) {
        struct timespec now;
        syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
        tell(now.tv_sec);
    } else {
        for (long i = 0; i < times; ++i) {
            wait_once(how, seconds);
            tell(nanoseconds(CLOCK_MONOTONIC));
        }
    }
    return 0;
}
