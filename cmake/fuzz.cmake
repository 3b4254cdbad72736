# SPDX-License-Identifier: Apache-2.0
# Builds a libFuzzer program for each reader; needs clang. tests/fuzz/run.sh runs them.
foreach(format edgelist names mtx dimacs metis sg wsg ldbc bvgraph ascii raw)
	add_executable(fuzz_${format} tests/fuzz/fuzz_reader.c)
	target_compile_definitions(fuzz_${format} PRIVATE FUZZ_FORMAT="${format}")
	target_link_libraries(fuzz_${format} PRIVATE mill_flags static)
	target_link_options(fuzz_${format} PRIVATE -fsanitize=fuzzer)
endforeach()
