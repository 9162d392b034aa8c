// Asks SimGrid what it makes of a platform and a list of commands, and prints its answer as JSON.
//
//   driver [--host-model M] [--cfg KEY:VALUE]... [--energy] PLATFORM COMMANDS
//   driver [...] --smpi HOST,HOST,... PLATFORM TRACE      (all ranks in one time-independent trace)
//   driver --batch FILE      one case a line: the words of such a command, separated by tabs
//
// A batch prints one line a case; what SimGrid refuses, or what takes longer than --limit seconds
// (default 60), becomes {"error": ...}. Commands start from timers, never from sleeping actors:
// a sleep is work of a host in SimGrid, and would make its energy plugin update that host.

#include "driver_commands.hpp"
#include "driver_json.hpp"

#include <simgrid/plugins/energy.h>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Options {
    std::string host_model = "ptask_L07";
    std::vector<std::string> cfg;
    bool energy = false;
    std::string platform;
    std::string commands;
    std::string ranks; // hosts of an SMPI trace
};

double cpu_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);) {
        parts.push_back(part);
    }
    return parts;
}

Options parse(const std::vector<std::string>& words) {
    Options options;
    std::vector<std::string> files;
    for (size_t i = 0; i < words.size(); ++i) {
        const auto value = [&] {
            return i + 1 < words.size() ? words[++i]
                                        : throw std::invalid_argument(words[i] + ": no value");
        };
        if (words[i] == "--host-model") {
            options.host_model = value();
        } else if (words[i] == "--cfg") {
            options.cfg.push_back(value());
        } else if (words[i] == "--energy") {
            options.energy = true;
        } else if (words[i] == "--smpi") {
            options.ranks = value();
        } else {
            files.push_back(words[i]);
        }
    }
    if (files.size() != 2) {
        throw std::invalid_argument("expected a platform and a file of commands");
    }
    options.platform = files[0];
    options.commands = files[1];
    return options;
}

Fields replay(const Options& options) {
    const auto names = split(options.ranks, ',');
    std::map<int, double> ends;
    SMPI_init();
    SMPI_app_instance_register("trace", nullptr, static_cast<int>(names.size()));
    for (int rank = 0; rank < static_cast<int>(names.size()); ++rank) {
        sg::Actor::create("rank", sg::Host::by_name(names[static_cast<size_t>(rank)]),
                          [rank, &options, &ends] {
                              smpi_replay_run("trace", rank, 0, options.commands.c_str());
                              ends[rank] = sg::Engine::get_clock();
                          });
    }
    sg::Engine::get_instance()->run();
    SMPI_finalize();
    Fields fields;
    for (const auto& [rank, end] : ends) {
        fields.emplace_back(std::to_string(rank), number(end));
    }
    fields.emplace_back("end", number(sg::Engine::get_clock()));
    return fields;
}

// SimGrid has one engine a process: this is called once.
void answer(const Options& options) {
    std::vector<std::string> words{"driver", "--log=root.thres:critical"};
    if (options.host_model != "default") {
        words.push_back("--cfg=host/model:" + options.host_model);
    }
    for (const auto& setting : options.cfg) {
        words.push_back("--cfg=" + setting);
    }
    std::vector<char*> argv;
    for (auto& word : words) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    int argc = static_cast<int>(words.size());
    sg::Engine engine(&argc, argv.data());
    if (options.energy) {
        sg_host_energy_plugin_init();
    }
    engine.load_platform(options.platform);
    Fields fields;
    double before = cpu_seconds();
    if (options.ranks.empty()) {
        Run run(options.commands);
        run.schedule();
        before = cpu_seconds();
        engine.run();
        fields = run.results();
    } else {
        fields = replay(options);
    }
    fields.emplace_back("cpu_seconds", number(cpu_seconds() - before));
    std::cout << object(fields) << std::endl;
}

std::string contents(std::FILE* file) {
    std::string text;
    std::rewind(file);
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
        text += static_cast<char>(c);
    }
    std::fclose(file);
    return text;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string answer_apart(const std::string& line, unsigned limit) {
    std::FILE* out = std::tmpfile();
    std::FILE* err = std::tmpfile();
    const pid_t child = fork();
    if (child == 0) {
        dup2(fileno(out), STDOUT_FILENO);
        dup2(fileno(err), STDERR_FILENO);
        alarm(limit);
        try {
            answer(parse(split(line, '\t')));
        } catch (const std::exception& problem) {
            std::cerr << problem.what() << std::endl;
            _exit(1);
        }
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const auto found = contents(out);
    const auto problem = contents(err);
    if (status == 0) {
        return first_line(found);
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        return object({{"error", quoted("no end within " + std::to_string(limit) + " s")}});
    }
    const auto why = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                         : "exit code " + std::to_string(WEXITSTATUS(status));
    return object({{"error", quoted(why + ": " + first_line(problem))}});
}

} // namespace

int main(int argc, char** argv) {
    std::vector<std::string> words(argv + 1, argv + argc);
    unsigned limit = 60;
    try {
        if (words.size() >= 2 && words[0] == "--limit") {
            limit = static_cast<unsigned>(std::stoul(words[1]));
            words.erase(words.begin(), words.begin() + 2);
        }
        if (words.size() == 2 && words[0] == "--batch") {
            std::ifstream in(words[1]);
            for (std::string line; std::getline(in, line);) {
                std::cout << answer_apart(line, limit) << std::endl;
            }
        } else {
            answer(parse(words));
        }
    } catch (const std::exception& problem) {
        std::cerr << "driver: " << problem.what() << std::endl;
        return 2;
    }
    return 0;
}
