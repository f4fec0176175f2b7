// A small test runner: TEST registers a function, CHECK ends it with a message, main counts.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernels.hpp"

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

inline int run_tests() {
    const char* wanted = std::getenv("SURTREE_KERNELS");
    if (wanted && std::strcmp(wanted, kernels().name) != 0) {
        std::printf("not run: this processor has no %s\n", wanted);
        return not_run;
    }
    int n_failed = 0;
    for (const Test& test : tests()) try {
            test.run();
        } catch (const Failure&) {
            std::printf("FAILED %s\n", test.name);
            ++n_failed;
        }
    std::printf("kernels: %s\n%zu passed, %d failed\n", kernels().name,
                tests().size() - static_cast<std::size_t>(n_failed), n_failed);
    return n_failed > 0;
}

}  // namespace surtree::testing

int main() { return surtree::testing::run_tests(); }
