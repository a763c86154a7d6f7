// Storage: the bytes of a tensor, or the reason why there are none.
//
// Every storage has a process-unique id, in each of its states:
//   | resident     the bytes are here
//   | placeholder  no bytes: the rank is outside the mesh, a program is being captured, or this is
//   |              a dry run
//   | deferred     the source of the bytes (an initialiser, or user data) is known; the first use
//   |              brings them here
//   | swapped      the bytes are on a lower tier; a Source reads them back
//
// `Storage::make_alias` returns a copy-on-write alias of a range of a resident storage. The alias
// is a storage with its own id and version and has the value of a copy. It allocates bytes only
// when it or its owner is written to (docs/storage.md, "Copy-on-write aliases").
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
  /// Why a placeholder has no bytes; part of the error of a read. The strings are not copied and
  /// must live as long as the storage: op names are literals and meshes are interned. Making a
  /// placeholder therefore allocates nothing but the storage.
  struct Absence {
    const char* op = nullptr;       // the op that made the tensor; null if none
    const char* reason = nullptr;   // "this rank is outside the tensor's mesh"
    const void* subject = nullptr;  // passed to `describe_subject`
    std::string (*describe_subject)(const void*) = nullptr;  // "mesh(pp=1; ranks 2,3)"
    const char* remedy = "Read it on a rank that computes it, or reshard it first.";
  };

  /// Supplies the bytes of a deferred or swapped storage. Any box of the array can be read, so a
  /// rank reads only its own shard of a sharded tensor.
  class Source {
   public:
    virtual ~Source() = default;
    /// Metadata of the whole array.
    virtual const TensorMeta& meta() const = 0;
    /// Writes the elements of `box` to `out`, a host array of the box's size. Thread-safe. To bring
    /// bytes to the device, call bring_box, which also counts the transfer.
    virtual void read(const Box& box, DenseTensor* out) const = 0;
    virtual StorageState state() const { return StorageState::kDeferred; }
    /// The tier that has the bytes; nullopt for an initialiser, which computes them on the device.
    virtual std::optional<Tier> tier() const { return std::nullopt; }
    /// Bytes that reading `box` reads from that tier. They differ from the box's size if the tier
    /// stores another dtype.
    virtual int64_t stored_bytes(const Box& box) const {
      return box.numel() * static_cast<int64_t>(size_of(meta().dtype));
    }
  };

  /// Allocates uninitialised bytes, aligned to 64 bytes. In a dry run returns a placeholder that is
  /// counted with these bytes. Errors: ResourceExhausted, with the requested and the held bytes.
  static IntrusivePtr<Storage> allocate(size_t nbytes, const Place& place);
  static IntrusivePtr<Storage> placeholder(const Place& place, const Absence& absence);
  /// A storage over bytes of the caller, which must outlive the storage. Nothing is charged to the
  /// memory account.
  static IntrusivePtr<Storage> borrow(std::byte* data, size_t nbytes, const Place& place);
  /// A storage that allocates nothing until its bytes are first used.
  static IntrusivePtr<Storage> from_source(const Place& place,
                                           std::shared_ptr<const Source> source);
  /// For a dry run of a program that uses the bytes at this point: counts them as planned, and
  /// keeps the source for a later real run.
  static IntrusivePtr<Storage> planned_from_source(const Place& place,
                                                   std::shared_ptr<const Source> source);

  uint64_t id() const { return id_; }
  StorageState state() const { return state_.load(std::memory_order_acquire); }
  const Place& place() const { return place_; }
  /// Whether this was the rank's account when the storage was made. Distinguishes the tensors of a
  /// captured program from others.
  bool was_made_under(const MemoryAccount& account) const { return account_.get() == &account; }
  bool has_bytes() const { return state() == StorageState::kResident; }
  /// Whether a real run would have the bytes and this dry run only counts them.
  bool is_planned() const { return planned_.load(std::memory_order_acquire); }
  /// Bytes that this storage occupies now; 0 if another storage or the caller owns them.
  size_t nbytes_here() const { return has_bytes() && owns_bytes() ? nbytes_ : 0; }
  /// False for a copy-on-write alias that still shares its owner's bytes, and for a borrowed
  /// storage.
  bool owns_bytes() const { return !borrowed_.load(std::memory_order_relaxed); }
  /// Size of the bytes, present or not.
  size_t nbytes() const { return nbytes_; }
  /// Null unless resident. Also null for 0 bytes on a device whose memory the host cannot access.
  std::byte* data() const { return data_.load(std::memory_order_acquire); }
  /// Number of writes by inplace operations. A value that was saved at another version is
  /// overwritten.
  uint32_t version() const { return version_; }
  /// An inplace operation calls this before it writes. Errors: those of before_write.
  void note_write() {
    before_write();
    ++version_;
  }

  /// Number of inplace operations that autograd has tracked, the same on every rank. A tensor that
  /// shares these bytes and whose gradient history began at another count is out of date.
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

  // ---- copy-on-write aliases ----

  /// Returns a copy-on-write alias of the bytes [offset, offset + nbytes). It shares the bytes of
  /// this storage, or of this storage's owner, until either is written to, and keeps the owner
  /// alive until then. Thread-safe. Returns null if no alias is possible:
  ///
  /// - the bytes are not here, are borrowed, or were exposed (expose_bytes);
  /// - the bytes share one allocation with the storage object (kInlineLimit);
  /// - another rank's thread made this storage, so that rank's account guards its aliases;
  /// - this storage is an alias that copied its bytes in keep_bytes;
  /// - the range does not have the alignment of allocated bytes;
  /// - a program is being captured.
  ///
  /// In a dry run an alias of planned bytes is planned too, and counts its bytes once it owns them.
  IntrusivePtr<Storage> make_alias(size_t offset, size_t nbytes) {
    return make_alias(offset, nbytes, /*keeps_address=*/false);
  }
  /// Same as make_alias, for messages in flight: the address does not change until the alias is
  /// destroyed or written to, even if this storage is written to. This storage becomes an alias as
  /// well: both share the bytes of a storage that has no handles and is never written to. Also
  /// returns null if this storage is an alias of a storage that has handles.
  IntrusivePtr<Storage> make_alias_at_fixed_address(size_t offset, size_t nbytes) {
    return make_alias(offset, nbytes, /*keeps_address=*/true);
  }
  /// Every writer of resident bytes calls this before the write, and before it obtains the address
  /// of anything that it reads. Aliases of this storage copy the bytes to memory of their own, and
  /// so does this storage if it is an alias. Errors: ResourceExhausted; nothing has changed then.
  void before_write() {
    if (alias_links_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      settle();
  }
  /// For callers that keep the address of the bytes while others may write to the owner: an alias
  /// copies its bytes to memory of its own. The address is then valid until this storage is
  /// destroyed or written to. Threads that are reading the owner's bytes may continue. Errors:
  /// ResourceExhausted.
  void keep_bytes() {
    if (alias_links_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      take_own_bytes();
  }

  /// For callers that pass the address to code that writes without before_write: existing aliases
  /// copy their bytes, and make_alias returns null afterwards. Errors: ResourceExhausted; nothing
  /// has changed then.
  void expose_bytes() {
    before_write();
    exposed_.store(true, std::memory_order_relaxed);
  }

  const Absence& absence() const { return absence_; }
  /// Null unless deferred or swapped.
  std::shared_ptr<const Source> source() const;

  /// Makes the storage resident. The source is read once, even if several threads call this. In a
  /// dry run the bytes are counted as planned, and the source is kept.
  /// Errors: PreconditionNotMet for a placeholder, and while a program is captured; those of the
  /// source. An error changes nothing.
  void materialise();

  /// Frees the bytes, if they are here. `source` supplies the value afterwards and replaces any
  /// other source. Aliases of this storage copy their bytes first. Errors: PreconditionNotMet for a
  /// placeholder, for borrowed bytes, and for a storage that was allocated with up to kInlineLimit
  /// bytes.
  void swap_out(std::shared_ptr<const Source> source);

  /// Up to this size the bytes share one allocation with the storage object.
  static constexpr size_t kInlineLimit = 4096;
  /// Alignment in bytes of allocated storages and of copy-on-write aliases.
  static constexpr size_t kAlignment = 64;

  static void destroy(Storage* storage);

 private:
  Storage(StorageState state, size_t nbytes, const Place& place,
          const IntrusivePtr<MemoryAccount>& account);
  ~Storage() = default;

  /// Allocates a block for the object followed by `inline_bytes` bytes.
  static Storage* make(StorageState state, size_t nbytes, const Place& place, size_t inline_bytes);
  /// A resident storage whose bytes are in a separate block.
  static IntrusivePtr<Storage> allocate_separately(size_t nbytes, const Place& place);
  /// The account that the bytes are charged to.
  MemoryAccount& charged() { return guest_ ? *guest_ : *account_; }
  void give_back_bytes();
  /// The link between an alias and its owner.
  struct AliasLink;
  IntrusivePtr<Storage> make_alias(size_t offset, size_t nbytes, bool keeps_address);
  void settle();
  void lock_and_detach_aliases();
  void take_own_bytes();
  /// Removes the link of an alias to its owner. Returns whether the bytes were the owner's; this
  /// storage has none then.
  bool leave_owner();
  // The caller holds the account's lock (MemoryAccount::alias_lock) for the functions below.
  /// Null unless this storage is an alias.
  AliasLink* own_link() const;
  std::unique_ptr<AliasLink> take_link();
  /// Moves the bytes to a storage without handles. Returns false if this storage does not own them.
  bool fix_address();
  void detach_aliases();
  void link(AliasLink& alias);
  void unlink(AliasLink& alias);

  /// Counts the bytes as planned, without allocating them.
  void plan();
  void end_plan();
  /// Ends the charge of planned bytes. The storage stays planned.
  void uncharge_plan();
  /// Takes over the bytes of `other`, which are in a separate block.
  void take_bytes(Storage& other);

  std::atomic<std::byte*> data_{nullptr};
  size_t nbytes_;
  uint64_t id_;
  uint32_t version_ = 0;
  uint32_t tracked_writes_ = 0;
  std::atomic<StorageState> state_;  // resident: the bytes are visible to every thread
  Place place_;
  mutable std::atomic_flag busy_;        // a thread materialises this, or reads source_
  std::atomic<bool> planned_{false};     // cleared after the bytes are visible
  std::atomic<bool> borrowed_{false};    // this object does not own the bytes
  std::atomic<bool> exposed_{false};     // other code may write to the bytes at any time
  bool inline_bytes_ : 1 = false;        // the bytes follow this object in one allocation
  bool is_aliased_base_ : 1 = false;     // has no handles, so its bytes are never written to
  bool refuses_writes_ : 1 = false;      // a copy that absence_.op made where no view was possible
  IntrusivePtr<MemoryAccount> account_;  // of the rank that made this object
  IntrusivePtr<MemoryAccount> guest_;    // of the rank that materialised it, if another one did
  Absence absence_;
  std::shared_ptr<const Source> source_;
  std::atomic<AliasLink*> alias_links_{
      nullptr};  // an alias's link, or the first link of an owner; or null
};

/// Reads `box` of a source into `out`, an array on the device, and counts the transfer. User data
/// and swapped values reach the device only through this function. Errors: those of the source.
void bring_box(const Storage::Source& source, const Box& box, DenseTensor* out);

}  // namespace phi
