// A hash table with open addressing: one look at memory finds a key and its value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "portable.hpp"

namespace surtree {

// Keys have `hash()`, and are never removed. The key that equals Key{} marks an empty place: it has no value.
template <class Key, class Value>
class FlatMap {
 public:
    struct Entry {
        Key key;
        Value value;
    };

    const Value* find(const Key& key) const {
        if (entries_.empty()) return nullptr;
        const Entry& entry = entries_[place_of(entries_, key)];
        return entry.key == key ? &entry.value : nullptr;
    }

    // The value of a key, which is `value` where the key is new. Needs room for it.
    Value& insert(const Key& key, const Value& value) {
        Entry& entry = entries_[place_of(entries_, key)];
        if (entry.key == key) return entry.value;
        ++size_;
        entry = {key, value};
        return entry.value;
    }

    // At most three quarters are full, so that searches are short.
    bool has_room() const { return 4 * (size_ + 1) <= 3 * entries_.size(); }
    std::size_t bytes_of_growth() const { return n_more() * sizeof(Entry); }
    void grow() {
        std::vector<Entry> larger(entries_.size() + n_more());
        for (Entry& entry : entries_)
            if (!(entry.key == Key{})) larger[place_of(larger, entry.key)] = std::move(entry);
        entries_ = std::move(larger);
    }

    void prefetch(const Key& key) const {
        if (!entries_.empty()) prefetch_memory(&entries_[key.hash() & (entries_.size() - 1)]);
    }

 private:
    std::size_t n_more() const { return std::max<std::size_t>(entries_.size(), 16); }

    // The place of a key, or the first empty one after where it should be.
    static std::size_t place_of(const std::vector<Entry>& entries, const Key& key) {
        const std::size_t mask = entries.size() - 1;
        std::size_t place = key.hash() & mask;
        while (!(entries[place].key == key) && !(entries[place].key == Key{})) place = (place + 1) & mask;
        return place;
    }

    std::vector<Entry> entries_;  // a power of two of them
    std::size_t size_ = 0;
};

}  // namespace surtree
