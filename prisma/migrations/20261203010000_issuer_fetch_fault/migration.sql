-- AlterTable
ALTER TABLE "trusted_issuer" ADD COLUMN     "fetch_failed_at" TIMESTAMPTZ(3),
ADD COLUMN     "fetch_fault" TEXT;
