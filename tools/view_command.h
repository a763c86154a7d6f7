// autophi view: writes one HTML page about reports, metrics, traces, predictions and plans.
#pragma once

/// argv[0] is "view". Returns the exit status: kUsageStatus for an invalid command line, 1 if
/// Python cannot be started. Otherwise Python replaces this process.
int view_command(int argc, char** argv);
