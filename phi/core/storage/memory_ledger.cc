// Finds the ledger of an account, and keeps its totals.
#include "phi/core/storage/memory_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "phi/core/storage/storage.h"

namespace phi {
namespace {

// Ledgers by account. A table, because few accounts have one.
struct LedgerTable {
  std::mutex mutex;
  std::unordered_map<const MemoryAccount*, MemoryLedger*> ledgers;

  static LedgerTable& get() {
    static auto& instance = *new LedgerTable;
    return instance;
  }
  MemoryLedger* find(const MemoryAccount& account) {
    const std::lock_guard lock(mutex);
    const auto found = ledgers.find(&account);
    return found == ledgers.end() ? nullptr : found->second;
  }
};

// As Device::allocate_host rounds.
int64_t whole_pages(int64_t bytes) {
  constexpr int64_t kPage = 4096;
  return (bytes + kPage - 1) / kPage * kPage;
}

const char* name_of(MemoryUse use) {
  constexpr std::array kNames = {"activations", "weights",  "optimizer states",
                                 "gradients",   "messages", "workspace",
                                 "data",        "program"};
  return kNames[static_cast<size_t>(use)];
}

}  // namespace

MemoryLedger::MemoryLedger(const MemoryAccount& account) : account_(account) {
  LedgerTable& table = LedgerTable::get();
  const std::lock_guard lock(table.mutex);
  table.ledgers[&account] = this;
  count_.fetch_add(1, std::memory_order_relaxed);
}

MemoryLedger::~MemoryLedger() {
  LedgerTable& table = LedgerTable::get();
  const std::lock_guard lock(table.mutex);
  table.ledgers.erase(&account_);
  count_.fetch_sub(1, std::memory_order_relaxed);
}

void MemoryLedger::add(const Key& key, int64_t bytes) {
  int64_t& total = totals_[key];
  total += bytes;
  current_ += bytes;
  if (current_ <= most_) return;
  most_ = current_;
  peak_ = totals_;
}

void MemoryLedger::reserve(const Entry& entry) {
  pool_.add(static_cast<size_t>(entry.bytes));
  if (entry.key.first != MemoryUse::kProgram) return blocks_.add(entry.block);
  arenas_ += whole_pages(entry.bytes);
  most_arenas_ = std::max(most_arenas_, arenas_);
}

void MemoryLedger::unreserve(const Entry& entry) {
  pool_.remove(static_cast<size_t>(entry.bytes));
  if (entry.key.first != MemoryUse::kProgram) return blocks_.remove(entry.block);
  arenas_ -= whole_pages(entry.bytes);
}

int64_t MemoryLedger::reserved() const {
  const std::lock_guard lock(mutex_);
  return blocks_.obtained() + most_arenas_;
}

int64_t MemoryLedger::pooled() const {
  const std::lock_guard lock(mutex_);
  return pool_.most();
}

void MemoryLedger::find_and_add(const MemoryAccount& account, const void* holder, int64_t bytes,
                                size_t block) {
  MemoryLedger* const ledger = LedgerTable::get().find(account);
  if (ledger == nullptr || bytes == 0) return;
  const std::lock_guard lock(ledger->mutex_);
  const Key key = MemoryUseScope::current();
  const Entry& entry = ledger->entries_[holder] = {key, bytes, block};
  ledger->add(key, bytes);
  ledger->reserve(entry);
}

void MemoryLedger::find_and_remove(const MemoryAccount& account, const void* holder) {
  MemoryLedger* const ledger = LedgerTable::get().find(account);
  if (ledger == nullptr) return;
  const std::lock_guard lock(ledger->mutex_);
  const auto found = ledger->entries_.find(holder);
  if (found == ledger->entries_.end()) return;
  ledger->add(found->second.key, -found->second.bytes);
  ledger->unreserve(found->second);
  ledger->entries_.erase(found);
}

void MemoryLedger::find_and_move(const MemoryAccount& account, const void* from, const void* to) {
  MemoryLedger* const ledger = LedgerTable::get().find(account);
  if (ledger == nullptr) return;
  const std::lock_guard lock(ledger->mutex_);
  auto node = ledger->entries_.extract(from);
  if (!node) return;
  node.key() = to;
  ledger->entries_.insert(std::move(node));
}

void MemoryLedger::find_and_assign(const MemoryAccount& account, const void* holder,
                                   MemoryUse use) {
  MemoryLedger* const ledger = LedgerTable::get().find(account);
  if (ledger == nullptr) return;
  const std::lock_guard lock(ledger->mutex_);
  const auto found = ledger->entries_.find(holder);
  if (found == ledger->entries_.end()) return;
  Entry& entry = found->second;
  ledger->totals_[entry.key] -= entry.bytes;
  entry.key = {use, -1};
  ledger->totals_[entry.key] += entry.bytes;
}

MemoryHolders MemoryLedger::sorted(const std::map<Key, int64_t>& totals) {
  MemoryHolders holders;
  for (const auto& [key, bytes] : totals) {
    if (bytes == 0) continue;
    const auto [use, layer] = key;
    holders.push_back(
        {layer < 0 ? name_of(use) : fmt::format("{} of layer {}", name_of(use), layer), bytes});
  }
  std::ranges::stable_sort(holders, std::ranges::greater(), &MemoryHolder::bytes);
  return holders;
}

MemoryHolders MemoryLedger::at_peak() const {
  const std::lock_guard lock(mutex_);
  return sorted(peak_);
}

MemoryHolders MemoryLedger::now() const {
  const std::lock_guard lock(mutex_);
  return sorted(totals_);
}

std::string MemoryLedger::describe(const MemoryAccount& account) {
  const MemoryLedger* const ledger = any() ? LedgerTable::get().find(account) : nullptr;
  std::string text;
  if (ledger == nullptr) return text;
  for (const MemoryHolder& holder : ledger->now()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", holder.name, holder.bytes);
  }
  return text;
}

PlannedScratch* MemoryLedger::scratch_of(const MemoryAccount& account) {
  MemoryLedger* const ledger = any() ? LedgerTable::get().find(account) : nullptr;
  return ledger == nullptr ? nullptr : &ledger->scratch_;
}

}  // namespace phi
