// The SDK needs this; Node has it from 22 on.
Promise.withResolvers ??= function withResolvers() {
  const resolvers = {};
  resolvers.promise = new this((resolve, reject) => {
    Object.assign(resolvers, { resolve, reject });
  });
  return resolvers;
};
