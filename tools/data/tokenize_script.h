// The text of tokenize_files.py, so that the command finds it wherever it is installed.
#pragma once

namespace phi::data_tool {

extern const char* const kTokenizeScript;

}  // namespace phi::data_tool
