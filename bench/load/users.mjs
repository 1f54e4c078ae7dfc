/** Runs `work` with so many users of a target, each with its own connections, and closes them. */
export async function withUsers(target, count, work) {
  const users = Array.from({ length: count }, () => target.user());
  try {
    return await work(users);
  } finally {
    await Promise.all(users.map((user) => user.close()));
  }
}
