// A small test runner: TEST registers a function, CHECK ends it with a message, main counts.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernel/kernels.hpp"

namespace surtree::testing {

struct Test {
    const char* name;
    void (*run)();
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

inline bool add(const char* name, void (*run)()) {
    tests().push_back({name, run});
    return true;
}

struct Failure {};

// Sanitizers make everything several times as slow, and what they look for is in any problem: a quarter of
// the random ones is enough for them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr unsigned n_seeds(unsigned n) { return (n + 3) / 4; }
#else
constexpr unsigned n_seeds(unsigned n) { return n; }
#endif

#define TEST(name)                                                       \
    static void name();                                                  \
    static const bool name##_added = surtree::testing::add(#name, name); \
    static void name()

#define CHECK(condition, ...)                                           \
    do {                                                                \
        if (!(condition)) {                                             \
            std::printf("%s:%d: %s: ", __FILE__, __LINE__, #condition); \
            std::printf(__VA_ARGS__);                                   \
            std::printf("\n");                                          \
            throw surtree::testing::Failure{};                          \
        }                                                               \
    } while (false)

constexpr int not_run = 77;  // CTest reports this exit code as a test that was skipped

// All tests, or those whose names contain one of some words.
inline int run_tests(const std::vector<std::string>& words) {
    const char* wanted = std::getenv("SURTREE_KERNELS");
    if (wanted && std::strcmp(wanted, find_kernels("relative_risk")->instruction_set) != 0) {
        std::printf("not run: this processor has no %s\n", wanted);
        return not_run;
    }
    int n_passed = 0, n_failed = 0;
    for (const Test& test : tests()) {
        const auto is_in_name = [&](const std::string& word) { return std::strstr(test.name, word.c_str()); };
        if (!words.empty() && std::none_of(words.begin(), words.end(), is_in_name)) continue;
        try {
            test.run();
            ++n_passed;
        } catch (const Failure&) {
            std::printf("FAILED %s\n", test.name);
            ++n_failed;
        }
    }
    std::printf("kernels: %s\n%d passed, %d failed\n", find_kernels("relative_risk")->instruction_set,
                n_passed, n_failed);
    return n_failed > 0 || n_passed == 0;
}

}  // namespace surtree::testing

int main(int n, char** words) { return surtree::testing::run_tests({words + 1, words + n}); }
