// See binary_trees.lang.

class Tree {
  constructor(public left: Tree | null, public right: Tree | null) {}
}

function treeOfDepth(depth: i32): Tree {
  return depth == 0
    ? new Tree(null, null)
    : new Tree(treeOfDepth(depth - 1), treeOfDepth(depth - 1));
}

function count(tree: Tree | null): i32 {
  return tree === null ? 0 : 1 + count(tree.left) + count(tree.right);
}

export function run(mostDepth: i32): i32 {
  let sum = count(treeOfDepth(mostDepth + 1));
  const longLived = treeOfDepth(mostDepth);
  for (let depth = 4; depth <= mostDepth; depth += 2) {
    const times = 1 << (mostDepth - depth + 4);
    for (let i = 0; i < times; i++) sum += count(treeOfDepth(depth));
  }
  return sum + count(longLived);
}
