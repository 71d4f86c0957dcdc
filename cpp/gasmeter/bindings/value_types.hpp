// The types of atomics and reductions, by NumPy's names.
#pragma once

#include "gasmeter/base/units.hpp"
#include "gasmeter/core/atomics/remote.hpp"

namespace gasmeter::bindings {

struct ValueTypeName {
  const char* name;
  core::atomics::ValueType type;
  Bytes bytes;
};
inline constexpr ValueTypeName kValueTypes[] = {
    {"int32", core::atomics::ValueType::i32, 4},   {"uint32", core::atomics::ValueType::u32, 4},
    {"int64", core::atomics::ValueType::i64, 8},   {"uint64", core::atomics::ValueType::u64, 8},
    {"float32", core::atomics::ValueType::f32, 4}, {"float64", core::atomics::ValueType::f64, 8}};

}  // namespace gasmeter::bindings
