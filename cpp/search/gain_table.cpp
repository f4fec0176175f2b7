#include "search/gain_table.hpp"

#include <algorithm>

namespace surtree {

// The place of a hash, or the first empty one after where it should be.
std::size_t GainTable::place_of(const std::vector<Entry>& entries, const RowSetHash& hash) {
    const std::size_t mask = entries.size() - 1;
    std::size_t place = hash.low & mask;
    while (entries[place].hash != hash && entries[place].hash != RowSetHash{}) place = (place + 1) & mask;
    return place;
}

bool GainTable::look_up(const Part& part, const RowSetHash& hash, Gains& out) {
    if (part.entries.empty()) return false;
    const Entry& entry = part.entries[place_of(part.entries, hash)];
    out = entry.gains;
    return entry.hash == hash;
}

bool GainTable::find(const RowSetHash& hash, Gains& out) const {
    const Part& part = part_of(hash);
    if (frozen_) return look_up(part, hash, out);
    const std::lock_guard lock(part.mutex);
    return look_up(part, hash, out);
}

void GainTable::prefetch(const RowSetHash& hash) const {
    if (!frozen_) return;
    const std::vector<Entry>& entries = part_of(hash).entries;
    if (!entries.empty()) __builtin_prefetch(&entries[hash.low & (entries.size() - 1)]);
}

void GainTable::store(const RowSetHash& hash, const Gains& gains, std::atomic<std::size_t>& bytes_left) {
    if (frozen_) return;
    Part& part = const_cast<Part&>(part_of(hash));
    const std::lock_guard lock(part.mutex);
    if (4 * (part.n + 1) > 3 * part.entries.size()) {
        const std::size_t n_more = std::max<std::size_t>(part.entries.size(), 16);
        const std::size_t bytes = n_more * sizeof(Entry);
        if (bytes_left.load(std::memory_order_relaxed) < bytes) return;
        bytes_left.fetch_sub(bytes, std::memory_order_relaxed);
        std::vector<Entry> larger(part.entries.size() + n_more);
        for (const Entry& entry : part.entries)
            if (entry.hash != RowSetHash{}) larger[place_of(larger, entry.hash)] = entry;
        part.entries = std::move(larger);
    }
    Entry& entry = part.entries[place_of(part.entries, hash)];
    part.n += entry.hash != hash;
    entry = {hash, gains};
}

}  // namespace surtree
