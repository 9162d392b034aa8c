// Numbers as the messages of Batsim's protocols have them.
#pragma once

#include <string>

namespace noctule {

// The shortest text that means the same, as Python writes it: 3.0, 0.1, 1e+16. Needs a finite one.
void append_shortest(std::string& text, double number);

// With six decimals.
void append_six_decimals(std::string& text, double number);

} // namespace noctule
