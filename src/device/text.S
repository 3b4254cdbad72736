/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of kernels, embedded. text.c names them; paths are relative to src/ (-Isrc). */
#define TEXT(name, path)                \
	.global text_##name;            \
	.hidden text_##name;            \
	text_##name: .incbin path; .byte 0

	.section .rodata
TEXT(dialect, "device/dialect.h")
TEXT(pages, "transfer/pages.cl")
TEXT(wanted, "op/wanted.cl")
TEXT(graphie, "policy/graphie.cl")
TEXT(join, "policy/join.cl")
TEXT(sum, "op/sum.op.h")
TEXT(page, "op/page.cl")
TEXT(edge, "op/edge.op.h")
TEXT(advance, "op/advance.cl")
TEXT(reduce, "op/reduce.cl")
TEXT(compute, "op/compute.cl")
TEXT(scan, "op/scan.cl")
TEXT(filter, "op/filter.cl")
TEXT(mode, "op/mode.cl")
TEXT(intersect, "op/intersect.cl")
TEXT(bfs, "algo/bfs.op.h")
TEXT(sssp, "algo/sssp.op.h")
TEXT(tree, "algo/tree.op.h")
TEXT(pagerank, "algo/pagerank.op.h")
TEXT(component, "algo/component.op.h")
TEXT(cc, "algo/cc.op.h")
TEXT(scc, "algo/scc.op.h")
TEXT(bc, "algo/bc.op.h")
TEXT(bc_wide, "algo/bc_wide.op.h")
TEXT(kcore, "algo/kcore.op.h")
TEXT(triangles, "algo/triangles.op.h")
	.section .note.GNU-stack, "", %progbits
