// JointCall: a call of autophi by all processes that mpirun started. The processes connect and
// compare subcommand, version and program, because processes that were started with different ones
// would wait for each other forever.
//
//   const JointCall call(&argc, &argv, subcommand, JointCall::kAll);    // a rank each
//   if (!call.works()) return call.status();
#pragma once

#include <chrono>
#include <string>

namespace phi::cli {

class JointCall {
 public:
  enum Who {
    kAll,  // every process is a rank of the job during the call
    kOne   // only the first process works, and the others do not wait for it
  };

  /// If the processes differ, the first one prints the difference, and none works. `start_deadline`
  /// is passed to distributed::init.
  JointCall(int* argc, char*** argv, const std::string& subcommand, Who who,
            std::chrono::milliseconds start_deadline = {});
  ~JointCall();
  JointCall(const JointCall&) = delete;
  JointCall& operator=(const JointCall&) = delete;

  /// False: this process must exit with status().
  bool works() const { return works_; }
  int status() const { return status_; }

 private:
  bool works_ = true;
  int status_ = 0;
};

}  // namespace phi::cli
