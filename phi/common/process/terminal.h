// Properties of standard output: whether it shows colours, and the width of its terminal.
#pragma once

namespace phi {

/// Whether standard output is a terminal and the environment variable NO_COLOR
/// (https://no-color.org) is unset or empty.
bool shows_colours();

/// Width in columns: the environment variable COLUMNS if it is set, otherwise the terminal's width,
/// otherwise 100.
int terminal_width();

}  // namespace phi
