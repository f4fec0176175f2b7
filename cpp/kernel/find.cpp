// Finds the kernels of an objective for one instruction set: compiled once for each.
#include "kernel/kernels.hpp"
#include "objective/objectives.hpp"

namespace surtree::SURTREE_ISA {

// Of kernels.cpp, which is compiled once for each objective.
template <class Objective>
const Kernels* kernels_of();

const Kernels* find_kernels(const char* objective) {
    const Kernels* found = nullptr;
    for_each_objective([&]<class Objective>(Type<Objective>) {
        if (__builtin_strcmp(objective, Objective::name) == 0) found = kernels_of<Objective>();
    });
    return found;
}

}  // namespace surtree::SURTREE_ISA
