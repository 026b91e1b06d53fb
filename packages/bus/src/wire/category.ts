/** Of the tools that a bus brings into a kernel. */
export const busCategory = "bus";
