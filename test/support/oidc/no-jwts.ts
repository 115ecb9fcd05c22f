/** For an authentication of tokens with values only. */
export const noJwts = {
  judge(): Promise<never> {
    return Promise.reject(new Error('this test presents no JWT'));
  },
};
