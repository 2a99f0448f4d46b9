/** See binary_trees.lang. */

class Tree {
  constructor(left, right) {
    this.left = left;
    this.right = right;
  }
}

function treeOfDepth(depth) {
  return depth === 0 ? new Tree(null, null) : new Tree(treeOfDepth(depth - 1), treeOfDepth(depth - 1));
}

function count(tree) {
  return tree === null ? 0 : 1 + count(tree.left) + count(tree.right);
}

export function run(mostDepth) {
  let sum = count(treeOfDepth(mostDepth + 1));
  const longLived = treeOfDepth(mostDepth);
  for (let depth = 4; depth <= mostDepth; depth += 2) {
    const times = 1 << mostDepth - depth + 4;
    for (let i = 0; i < times; i++) sum = sum + count(treeOfDepth(depth)) | 0;
  }
  return sum + count(longLived) | 0;
}
