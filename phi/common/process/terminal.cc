// Queries the environment and the terminal.
#include "phi/common/process/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace phi {

bool shows_colours() {
  const char* refused = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (refused == nullptr || *refused == '\0');
}

int terminal_width() {
  if (const char* text = std::getenv("COLUMNS")) {
    int columns = 0;
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), columns);
    if (error == std::errc{} && *end == '\0' && columns > 0) return columns;
  }
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 100;
}

}  // namespace phi
