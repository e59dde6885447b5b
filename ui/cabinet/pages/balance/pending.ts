/** The payment that this browser began last: its id is known only after the provider's page was told where to come back
 * to, so it waits here. */
const KEPT = "parley.payment";

export const rememberPayment = (id: string) => localStorage.setItem(KEPT, id);
export const rememberedPayment = () => localStorage.getItem(KEPT);
