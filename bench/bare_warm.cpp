// Runs the bare loop several times in one process, so that it is as warm as what it is held
// against. usage: bare_warm REPEATS FILE.swf PROCESSORS [fcfs|easy]
#define main bare_main
#include "bare_easy.cpp"
#undef main

int main(int argc, char** argv) {
    for (int repeats = atoi(argv[1]); repeats > 0; --repeats) {
        bare_main(argc - 1, argv + 1);
    }
}
