// Single copy: a message within a machine goes straight from the sender's memory to the receiver's.
// The kernel does it (process_vm_readv) unless something forbids it: a seccomp filter or a missing
// SYS_PTRACE of a container, Yama. Without it MPI copies twice, through fragments in shared memory.
#pragma once

namespace phi::distributed {

/// Before MPI_Init. Open MPI looks at Yama alone; where something else forbids the copy it prints a
/// line for each message. So it is told here, unless the user has set what it shall do.
void leave_out_forbidden_single_copy();

/// After MPI_Init: what this rank's MPI does with messages within the machine.
bool messages_are_copied_once();

}  // namespace phi::distributed
