#include "gain_table.hpp"

#include <algorithm>

namespace surtree {

// The place of a key, or the first empty one after where it should be.
std::size_t GainTable::place_of(const std::vector<Entry>& entries, const Key& key) {
    const std::size_t mask = entries.size() - 1;
    std::size_t place = key.low & mask;
    while (entries[place].key != key && entries[place].key != Key{}) place = (place + 1) & mask;
    return place;
}

bool GainTable::look_up(const Part& part, const Key& key, Gains& out) {
    if (part.entries.empty()) return false;
    const Entry& entry = part.entries[place_of(part.entries, key)];
    out = entry.gains;
    return entry.key == key;
}

bool GainTable::find(const Key& key, Gains& out) const {
    const Part& part = part_of(key);
    if (frozen_) return look_up(part, key, out);
    const std::lock_guard lock(part.mutex);
    return look_up(part, key, out);
}

void GainTable::prefetch(const Key& key) const {
    if (!frozen_) return;
    const std::vector<Entry>& entries = part_of(key).entries;
    if (!entries.empty()) __builtin_prefetch(&entries[key.low & (entries.size() - 1)]);
}

void GainTable::store(const Key& key, const Gains& gains, std::atomic<std::size_t>& bytes_left) {
    if (frozen_) return;
    Part& part = const_cast<Part&>(part_of(key));
    const std::lock_guard lock(part.mutex);
    if (4 * (part.n + 1) > 3 * part.entries.size()) {
        const std::size_t n_more = std::max<std::size_t>(part.entries.size(), 16);
        const std::size_t bytes = n_more * sizeof(Entry);
        if (bytes_left.load(std::memory_order_relaxed) < bytes) return;
        bytes_left.fetch_sub(bytes, std::memory_order_relaxed);
        std::vector<Entry> larger(part.entries.size() + n_more);
        for (const Entry& entry : part.entries)
            if (entry.key != Key{}) larger[place_of(larger, entry.key)] = entry;
        part.entries = std::move(larger);
    }
    Entry& entry = part.entries[place_of(part.entries, key)];
    part.n += entry.key != key;
    entry = {key, gains};
}

}  // namespace surtree
