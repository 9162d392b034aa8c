// The words of a command, and the hosts that they name.
#pragma once

#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace sg = simgrid::s4u;

// The words of one line; each is asked for by what it should be.
class Words {
  public:
    explicit Words(const std::string& line) : text_(line), in_(line) {}

    std::string word() {
        std::string found;
        if (!(in_ >> found)) {
            throw std::invalid_argument("too few words: " + text_);
        }
        return found;
    }

    double real() {
        const auto found = word();
        char* end = nullptr;
        const double value = std::strtod(found.c_str(), &end); // takes the smallest numbers, too
        if (end != found.c_str() + found.size()) {
            throw std::invalid_argument("expected a number, got: " + found);
        }
        return value;
    }

    std::vector<double> reals(size_t n) {
        std::vector<double> found(n);
        std::generate(found.begin(), found.end(), [this] { return real(); });
        return found;
    }

    sg::Host* host() { return sg::Host::by_name(word()); }

    std::vector<sg::Host*> hosts() {
        std::vector<sg::Host*> found(std::stoul(word()));
        std::generate(found.begin(), found.end(), [this] { return host(); });
        return found;
    }

    std::vector<double> amounts(const std::string& letter, size_t n) {
        const auto found = word();
        if (found == "-") {
            return {};
        }
        if (found != letter) {
            throw std::invalid_argument("expected " + letter + " or - in: " + text_);
        }
        return reals(n);
    }

  private:
    std::string text_;
    std::istringstream in_;
};
