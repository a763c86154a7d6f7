// JointCall: one call of autophi by all processes that mpirun started. They join each other and
// compare the subcommand, the version and the program: processes that were started with different
// ones would wait for each other for ever.
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
    kAll,  // the process is a rank of the job while the call lives
    kOne   // the first process does it all, and the others do not wait for it
  };

  /// If the processes differ the first one says in what, and none works. `start_deadline`: of
  /// distributed::init.
  JointCall(int* argc, char*** argv, const std::string& subcommand, Who who,
            std::chrono::milliseconds start_deadline = {});
  ~JointCall();
  JointCall(const JointCall&) = delete;
  JointCall& operator=(const JointCall&) = delete;

  /// False: this process has nothing to do but to end with status().
  bool works() const { return works_; }
  int status() const { return status_; }

 private:
  bool works_ = true;
  int status_ = 0;
};

}  // namespace phi::cli
