// The TOML of a spec with the flags of the command line merged in. For spec.cpp.
#pragma once

#include "base/toml.hpp"
#include "spec/document.hpp"
#include "spec/model.hpp"

namespace saltus::host {

/// Parses the text of the spec and applies its flags in their order, `-n` last. Values from flags carry the flag as
/// their source (see field.hpp). Without a model, flags that may name its quantities are left out. Throws an `error`
/// with exit code 2 for bad syntax and for keys that are neither the spec's nor the model's.
toml::table merge(const spec_document& spec, const host::model* model);

}  // namespace saltus::host
