declare module "*.js?raw" {
  const text: string;
  export default text;
}

declare module "*realm.txt?raw" {
  const text: string;
  export default text;
}
