// Numbers as the messages of Batsim's protocols have them.
#pragma once

#include "protocol/text_buffer.hpp"

#include <cstdint>

namespace noctule {

// The shortest text that means the same, as Python writes it: 3.0, 0.1, 1e+16. Needs a finite one.
void append_shortest(TextBuffer& text, double number);

// With six decimals.
void append_six_decimals(TextBuffer& text, double number);

void append_whole(TextBuffer& text, std::int64_t number);

} // namespace noctule
