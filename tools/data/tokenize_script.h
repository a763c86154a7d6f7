// The text of tokenize_files.py, embedded so that the command works wherever it is installed.
#pragma once

namespace phi::data_tool {

extern const char* const kTokenizeScript;

}  // namespace phi::data_tool
