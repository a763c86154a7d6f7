// What standard output is: whether a person looks at it, and how wide their terminal is.
#pragma once

namespace phi {

/// Standard output is a terminal, and the environment's NO_COLOR (https://no-color.org) is unset or
/// empty.
bool shows_colours();

/// Columns: the environment's COLUMNS where it is set, then what the terminal says, then 100.
int terminal_width();

}  // namespace phi
