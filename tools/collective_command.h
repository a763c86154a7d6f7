// CollectiveCommand: a call of autophi by all processes that mpirun started. The processes connect
// and compare subcommand, version and program, because processes that were started with different
// ones would wait for each other forever.
//
//   const CollectiveCommand call(&argc, &argv, subcommand, CollectiveCommand::kAll);
//   if (!call.works()) return call.status();
#pragma once

#include <chrono>
#include <string>

namespace phi::cli {

class CollectiveCommand {
 public:
  enum Participants {
    kAll,  // every process is a rank of the job during the call
    kOne   // only the first process works, and the others do not wait for it
  };

  /// If the processes differ, the first one prints the difference, and none works. `start_deadline`
  /// is passed to distributed::init.
  CollectiveCommand(int* argc, char*** argv, const std::string& subcommand,
                    Participants participants, std::chrono::milliseconds start_deadline = {});
  ~CollectiveCommand();
  CollectiveCommand(const CollectiveCommand&) = delete;
  CollectiveCommand& operator=(const CollectiveCommand&) = delete;

  /// False: this process must exit with status().
  bool works() const { return works_; }
  int status() const { return status_; }

 private:
  bool works_ = true;
  int status_ = 0;
};

}  // namespace phi::cli
