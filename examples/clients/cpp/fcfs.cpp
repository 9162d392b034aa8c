// First come, first served, as a program of its own that speaks Batsim's protocol 4.
//
//     g++ -std=c++20 -O2 fcfs.cpp -lzmq -o fcfs && ./fcfs tcp://127.0.0.1:28000
//
// Jobs start in the order of their submission, on the free hosts with the lowest ids; the first
// that does not fit holds back all others. Jobs larger than the platform are rejected.
#include <nlohmann/json.hpp>
#include <zmq.h>

#include <cstdio>
#include <deque>
#include <map>
#include <set>
#include <string>

using nlohmann::json;

struct Job {
    std::string id;
    std::size_t n_hosts;
};

class Fcfs {
  public:
    bool ended = false;

    json answer(const json& request) {
        events_ = json::array();
        now_ = request.at("now");
        for (const json& event : request.at("events")) {
            take(event.at("type"), event.at("data"));
        }
        while (!waiting_.empty() && waiting_.front().n_hosts <= free_.size()) {
            start(waiting_.front());
            waiting_.pop_front();
        }
        return {{"now", now_}, {"events", events_}};
    }

  private:
    void take(const std::string& type, const json& data) {
        if (type == "SIMULATION_BEGINS") {
            n_hosts_ = data.at("nb_compute_resources");
            for (const json& host : data.at("compute_resources")) {
                free_.insert(host.at("id").get<int>());
            }
        } else if (type == "JOB_SUBMITTED") {
            const Job job{data.at("job_id"), data.at("job").at("res")};
            if (job.n_hosts > n_hosts_) {
                say("REJECT_JOB", {{"job_id", job.id}});
            } else {
                waiting_.push_back(job);
            }
        } else if (type == "JOB_COMPLETED") {
            free_.merge(running_.extract(data.at("job_id")).mapped());
        } else if (type == "SIMULATION_ENDS") {
            ended = true;
        }
    }

    void start(const Job& job) {
        std::string hosts; // as in "0 1 5"
        for (std::size_t i = 0; i < job.n_hosts; ++i) {
            hosts += (i == 0 ? "" : " ") + std::to_string(*free_.begin());
            running_[job.id].insert(free_.extract(free_.begin()));
        }
        say("EXECUTE_JOB", {{"job_id", job.id}, {"alloc", hosts}});
    }

    void say(const std::string& type, const json& data) {
        events_.push_back({{"timestamp", now_}, {"type", type}, {"data", data}});
    }

    json now_, events_;
    std::size_t n_hosts_ = 0;
    std::set<int> free_;
    std::deque<Job> waiting_;
    std::map<std::string, std::set<int>> running_;
};

int main(int argc, char** argv) {
    void* context = zmq_ctx_new();
    void* socket = zmq_socket(context, ZMQ_REP);
    if (zmq_bind(socket, argc > 1 ? argv[1] : "tcp://127.0.0.1:28000") != 0) {
        std::perror("fcfs");
        return 1;
    }
    for (Fcfs policy; !policy.ended;) {
        zmq_msg_t message;
        zmq_msg_init(&message);
        const int size = zmq_msg_recv(&message, socket, 0);
        const auto* text = static_cast<const char*>(zmq_msg_data(&message));
        const std::string reply = policy.answer(json::parse(text, text + size)).dump();
        zmq_send(socket, reply.data(), reply.size(), 0);
        zmq_msg_close(&message);
    }
    zmq_close(socket);
    zmq_ctx_term(context); // what was sent is delivered before the process ends
}
