// Storage: the bytes of a tensor, or the reason why there are none.
//
// Every storage has an identity (process-unique id) whatever its state:
//   | resident     bytes are here
//   | placeholder  never had bytes here: the rank is outside the mesh, a program is being captured,
//   |              or this is a dry run
//   | deferred     an initialiser, or where the user's data lies, is known; bytes come on first use
//   | swapped      bytes are on a lower tier (the mechanism is a Source that reads them back)
//
// A resident storage may lend a range of its bytes: a lease is a storage of its own, with another
// identity and version, which has the value of a copy and takes bytes only when somebody writes to
// either (docs/storage.md, "Copy-on-write aliases").
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "phi/common/intrusive_ptr.h"
#include "phi/common/place.h"
#include "phi/core/box.h"
#include "phi/core/meta.h"
#include "phi/core/storage/memory_account.h"
#include "phi/core/storage/tier.h"

namespace phi {

class DenseTensor;

enum class StorageState : uint8_t { kResident, kPlaceholder, kDeferred, kSwapped };

const char* name_of(StorageState state);

class Storage : public RefCounted<Storage> {
 public:
  /// Why a placeholder has no bytes; printed when somebody reads it. The strings are not copied: op
  /// names are literals and meshes are interned, so making a placeholder costs no heap but itself.
  struct Absence {
    const char* op = nullptr;       // the op that made the tensor, null if none did
    const char* reason = nullptr;   // "this rank is outside the tensor's mesh"
    const void* subject = nullptr;  // passed to `describe_subject`
    std::string (*describe_subject)(const void*) = nullptr;  // "mesh(pp=1; ranks 2,3)"
    const char* remedy = "Read it on a rank that computes it, or reshard it first.";
  };

  /// Where the bytes of a deferred or swapped storage come from. It can give any box of the array,
  /// so that a sharded tensor never has more than its own part here.
  class Source {
   public:
    virtual ~Source() = default;
    /// The whole array that this source can give.
    virtual const TensorMeta& meta() const = 0;
    /// Writes the elements of `box` to `out`, an array of the host of the box's size. May be called
    /// by several threads at once. Who brings bytes to the device calls bring_box, which counts
    /// them.
    virtual void read(const Box& box, DenseTensor* out) const = 0;
    virtual StorageState state() const { return StorageState::kDeferred; }
    /// Where the bytes lie now; nothing for an initialiser, which makes them on the device.
    virtual std::optional<Tier> tier() const { return std::nullopt; }
    /// Bytes that reading `box` takes from that tier, which differ from those of the array where it
    /// is kept in another dtype.
    virtual int64_t stored_bytes(const Box& box) const {
      return box.numel() * static_cast<int64_t>(size_of(meta().dtype));
    }
  };

  /// 64-byte aligned, not initialised. In a dry run a placeholder that stands for these bytes.
  /// Errors: ResourceExhausted with the size and what is held.
  static IntrusivePtr<Storage> allocate(size_t nbytes, const Place& place);
  static IntrusivePtr<Storage> placeholder(const Place& place, const Absence& absence);
  /// Over bytes that somebody else holds, at least as long as the storage; nothing is charged.
  static IntrusivePtr<Storage> borrow(std::byte* data, size_t nbytes, const Place& place);
  /// Nothing is allocated until the bytes are asked for.
  static IntrusivePtr<Storage> from_source(const Place& place,
                                           std::shared_ptr<const Source> source);
  /// The same in a dry run of a program that would ask now: its bytes are planned, and the source
  /// stays for whoever runs the program for real.
  static IntrusivePtr<Storage> planned_from_source(const Place& place,
                                                   std::shared_ptr<const Source> source);

  uint64_t id() const { return id_; }
  StorageState state() const { return state_.load(std::memory_order_acquire); }
  const Place& place() const { return place_; }
  /// Made while this was the rank's account, which tells tensors of a captured program from others.
  bool was_made_under(const MemoryAccount& account) const { return account_.get() == &account; }
  bool has_bytes() const { return state() == StorageState::kResident; }
  /// Stands for bytes that only a dry run does not allocate.
  bool is_planned() const { return planned_.load(std::memory_order_acquire); }
  /// Bytes that this storage occupies now: none where they are another's.
  size_t nbytes_here() const { return has_bytes() && owns_bytes() ? nbytes_ : 0; }
  /// They are not those of a lender, or of whoever had them borrowed.
  bool owns_bytes() const { return !borrowed_.load(std::memory_order_relaxed); }
  /// Bytes that it has, or will have when brought here.
  size_t nbytes() const { return nbytes_; }
  /// Null unless resident, and for 0 bytes on a device that the host does not reach.
  std::byte* data() const { return data_.load(std::memory_order_acquire); }
  /// How often an inplace operation has written here; tells that a saved value is gone.
  uint32_t version() const { return version_; }
  /// An inplace operation is about to write here.
  void note_write() {
    before_write();
    ++version_;
  }

  /// Inplace operations that gradients know of, alike on every rank. A tensor that shares these
  /// bytes and whose history began at another count is out of date.
  uint32_t tracked_writes() const { return tracked_writes_; }
  void note_tracked_write() { ++tracked_writes_; }

  /// Marks the bytes as a copy that the view op `op` made because no view was possible. An inplace
  /// operation on them is an error, since the viewed tensor would not see it.
  void refuse_writes(const char* op) {
    absence_.op = op;
    refuses_writes_ = true;
  }
  void allow_writes() { refuses_writes_ = false; }
  /// The view op that made this copy; null if writes are allowed.
  const char* copied_by() const { return refuses_writes_ ? absence_.op : nullptr; }

  // ---- leases ----

  /// A storage whose value is that of `nbytes` bytes from `offset` on, as they are now. They are
  /// this one's, or its lender's, until somebody writes to either; the lender stays as long.
  /// Null where there is nothing to lend: no bytes here, or somebody else's or exposed ones; bytes
  /// that another rank's thread has made, whose leases it could not see; a range that is not
  /// aligned as allocated bytes are; in a dry run, which writes nothing. Safe to call from any
  /// thread.
  IntrusivePtr<Storage> lend(size_t offset, size_t nbytes) {
    return lend(offset, nbytes, /*keeps_address=*/false);
  }
  /// As lend, for messages that are under way: the address does not change until the lease ends or
  /// is written to, even if this storage is written to. This storage becomes a lease as well, of a
  /// storage without handles that is never written to. Null also if this storage is a lease of a
  /// storage with handles.
  IntrusivePtr<Storage> lend_at_fixed_address(size_t offset, size_t nbytes) {
    return lend(offset, nbytes, /*keeps_address=*/true);
  }
  /// Whoever writes to bytes that are here calls this first, before it takes the address of
  /// anything that it reads. Leases of this storage take bytes of their own, and so does this one
  /// if it is a lease. Errors: ResourceExhausted, and nothing has changed.
  void before_write() {
    if (lending_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      settle();
  }
  /// For who keeps the address of the bytes while others may write to the lender: a lease takes
  /// bytes of its own, and the address stays as long as the storage, or until it is written to.
  /// Whoever reads the lender's now may go on. Errors: ResourceExhausted.
  void keep_bytes() {
    if (lending_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      take_own_bytes();
  }

  /// For who hands the address to somebody that writes without telling: leases part now, and there
  /// are none from here on. Errors: ResourceExhausted, and nothing has changed.
  void expose_bytes() {
    before_write();
    exposed_.store(true, std::memory_order_relaxed);
  }

  const Absence& absence() const { return absence_; }
  /// Null unless deferred or swapped.
  std::shared_ptr<const Source> source() const;

  /// Makes the storage resident: reads its source, once, whoever asks and on whatever thread. In a
  /// dry run its bytes are planned and it keeps the source.
  /// Errors: PreconditionNotMet for a placeholder; those of the source, which leave it as it was.
  void materialise();

  /// Gives the bytes back, if they are here; the value is where `source` reads it from, also in
  /// place of another source. Leases of this storage take bytes of their own before. Errors:
  /// PreconditionNotMet for a placeholder, and for a storage of up to kInlineLimit bytes that it
  /// has always had.
  void swap_out(std::shared_ptr<const Source> source);

  /// Up to this size the bytes share one allocation with the storage object.
  static constexpr size_t kInlineLimit = 4096;
  /// Of the address of bytes that are allocated or lent.
  static constexpr size_t kAlignment = 64;

  static void destroy(Storage* storage);

 private:
  Storage(StorageState state, size_t nbytes, const Place& place,
          const IntrusivePtr<MemoryAccount>& account);
  ~Storage() = default;

  /// A storage whose block has `inline_bytes` bytes behind the object.
  static Storage* make(StorageState state, size_t nbytes, const Place& place, size_t inline_bytes);
  /// Resident, with the bytes in a block of their own.
  static IntrusivePtr<Storage> allocate_apart(size_t nbytes, const Place& place);
  /// The account that the bytes are charged to.
  MemoryAccount& charged() { return guest_ ? *guest_ : *account_; }
  void give_back_bytes();
  /// What links a lease to its lender.
  struct Lease;
  IntrusivePtr<Storage> lend(size_t offset, size_t nbytes, bool keeps_address);
  void settle();
  void part_from_leases();
  void take_own_bytes();
  /// Of a lease: it has nothing to do with its lender any more. Its bytes are gone if they were
  /// that one's, which is what it returns.
  bool leave_lender();
  // These are called under the account's lock.
  /// Null for all but leases.
  Lease* own_lease() const;
  std::unique_ptr<Lease> take_lease();
  /// Moves the bytes to a storage without handles. False if they are not this storage's own.
  bool fix_address();
  void settle_leases();
  void link(Lease& lease);
  void unlink(Lease& lease);

  /// From here on it stands for its bytes without having them.
  void plan();
  void end_plan();
  /// Takes over the bytes of `other`, which has them apart.
  void take_bytes(Storage& other);

  std::atomic<std::byte*> data_{nullptr};
  size_t nbytes_;
  uint64_t id_;
  uint32_t version_ = 0;
  uint32_t tracked_writes_ = 0;
  std::atomic<StorageState> state_;  // resident: the bytes are there for every thread
  Place place_;
  mutable std::atomic_flag busy_;        // a thread materialises, or looks at the source
  std::atomic<bool> planned_{false};     // ended after the bytes are there, for who asks for either
  std::atomic<bool> borrowed_{false};    // the bytes are not this object's
  std::atomic<bool> exposed_{false};     // somebody else may write to the bytes at any time
  bool inline_bytes_ : 1 = false;        // the bytes follow this object in one allocation
  bool only_lends_ : 1 = false;          // has no handles, so its bytes are never written to
  bool refuses_writes_ : 1 = false;      // a copy that absence_.op made where no view was possible
  IntrusivePtr<MemoryAccount> account_;  // of the rank that made this object
  IntrusivePtr<MemoryAccount> guest_;    // of the rank that materialised it, if that is another
  Absence absence_;
  std::shared_ptr<const Source> source_;
  std::atomic<Lease*> lending_{nullptr};  // of a lease its own, of a lender the first; mostly null
};

/// Reads `box` of a source into an array on the device, and counts what crosses: the one way on
/// which data given by the user, or swapped out, comes to the device. Errors: those of the source.
void bring_box(const Storage::Source& source, const Box& box, DenseTensor* out);

}  // namespace phi
