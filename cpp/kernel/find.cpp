// Finds the kernels of an objective for one instruction set: compiled once for each.
#include "kernel/kernels.hpp"
#include "objective/objectives.hpp"

namespace surtree::SURTREE_ISA {
namespace {

bool is_same(const char* a, const char* b) {
    for (; *a && *a == *b; ++a) ++b;
    return *a == *b;
}

}  // namespace

// Defined in kernels.cpp, which is compiled once for each objective.
template <class Objective>
const Kernels* kernels_of();

const Kernels* find_kernels(const char* objective) {
    const Kernels* found = nullptr;
    for_each_objective([&]<class Objective>(Type<Objective>) {
        if (is_same(objective, Objective::name)) found = kernels_of<Objective>();
    });
    return found;
}

}  // namespace surtree::SURTREE_ISA
