// The driver of the device for which a plug-in is compiled. Its sources define SALTUS_DEVICE_DRIVER as the name of a header with
//
//     device_in_use         a device by number: use(), memory_left(), multiprocessors(), threads_per_multiprocessor()
//     device_memory, device_address     a block of its memory, and an address there
//     pinned_memory         host memory that the device can access while the host goes on
//     device_stream         an order of operations, with a rank among streams: upload, download, copy, fill, launch, wait
//     device_chain          kernels that are launched together: set, launch
//     device_event          a mark in a stream: put_into, wait, seconds_since
//     device_binaries, device_binary    compiled kernels of a plan, compiled kernels: binaries_for, statistics_binary_for
//     device_code, device_kernel        code loaded onto the device, and a kernel in it: kernel(name), local_bytes, blocks_at_once
//     device_error          a failed call of the driver: is_out_of_memory()
//     description_of, fma_per_second      the device for people, and its peak
//
// as in backend/cuda/device_names.hpp.
#pragma once

#include SALTUS_DEVICE_DRIVER
